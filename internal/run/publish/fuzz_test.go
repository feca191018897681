package publish_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

// FuzzRecords makes reports of records that an agent, a broken disk or another version has changed. An error is an answer; a panic is a fault.
func FuzzRecords(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	paced := recordtest.Duel(2)
	paced.Levels, paced.Seconds = []int32{1, 10}, 1
	for _, data := range []record.RunData{small(), recordtest.Run(paced)} {
		seed, err := json.Marshal(data)
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t testing.TB, text []byte) {
		var data record.RunData
		if json.Unmarshal(text, &data) != nil {
			return
		}
		table, err := analysis.Analyse(data)
		if err != nil {
			return
		}
		files, err := report.Files(table)
		if err != nil {
			return
		}
		for _, file := range files {
			if bytes.ContainsFunc(file.Body, func(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r) }) {
				t.Errorf("%s holds a control character", file.Name)
			}
		}
		for _, line := range []string{report.Line(table.Headline()), report.ObjectivesLine(table), report.NoiseLine(table)} {
			if bytes.ContainsFunc([]byte(line), unicode.IsControl) {
				t.Errorf("a line of the terminal holds a control character: %q", line)
			}
		}
	})
}
