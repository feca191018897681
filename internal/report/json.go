package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/internal/analysis"
)

// Schema names the shape of the JSON report. Fields may be added to it; none changes its name, its unit or its meaning.
const Schema = "loadstone.dev/report/v1"

// document is the JSON report: the table with its schema and its headline. Field names carry their units.
type document struct {
	Schema   string            `json:"schema"`
	Verdict  string            `json:"verdict"`
	Headline analysis.Headline `json:"headline"`
	analysis.Table
}

// JSON prints the table for programs.
func JSON(t analysis.Table) ([]byte, error) {
	h := t.Headline()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	if err := e.Encode(document{Schema: Schema, Verdict: Line(h), Headline: h, Table: t}); err != nil {
		return nil, fmt.Errorf("encoding the report of run %s: %w", t.Run.Name, err)
	}
	return out.Bytes(), nil
}
