package microbenchmark

import (
	"encoding/json"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/tool/cases"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Decode implements kind.Kind: a trial has one member, and its collector has left a result.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	if err := kind.DecodeAlone(results, into, "programs", "a program", func(r record.ObserverResult) bool { return r.Program != nil }); err != nil {
		return err
	}
	if how := into.Manifest.Programs; how != nil {
		own := into.Servers[0].Program
		own.Cases = cases.Rename(own.Cases, how.Output(into.Manifest.Servers[0]).Cases)
	}
	return nil
}

// Rows implements kind.Kind: of each metric of a case the median of the repetitions that the process made by itself. The process is what is
// repeated: its repetitions share its memory layout and are not counted as more than one.
func (Kind) Rows(t record.TrialData) []record.Row {
	var rows []record.Row
	for _, c := range t.Servers[0].Program.Cases {
		for _, v := range c.Values {
			if len(v.Samples) > 0 {
				rows = append(rows, record.Exactly(v.Metric, c.Name, v.Unit, v.Better, inference.Median(v.Samples)))
			}
		}
	}
	return rows
}
