package kube

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite"
)

// rounds is a store in memory that has the records and the report of a run, and trouble for all else.
type rounds struct {
	data    record.RunData
	report  []byte
	trouble error
}

func (s rounds) Load(_ context.Context, prefix string) (record.RunData, error) {
	if prefix != "r/there" {
		return record.RunData{}, fmt.Errorf("reading %s: %w", prefix, s.trouble)
	}
	return s.data, nil
}

func (s rounds) Get(_ context.Context, key, _ string) ([]byte, error) {
	switch key {
	case "r/there/reports/abc/report.json":
		return s.report, nil
	case "r/text/reports/abc/report.json":
		return []byte("<html>"), nil
	}
	return nil, fmt.Errorf("reading %s: %w", key, s.trouble)
}

func (rounds) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

func TestARoundIsReadFromItsReportOrItsRecords(t *testing.T) {
	o := recordtest.Duel(3)
	o.Levels, o.Seconds = []int32{10}, 1
	data := recordtest.Run(o)
	table, err := analysis.Analyse(data)
	if err != nil {
		t.Fatal(err)
	}
	body, err := report.JSON(table)
	if err != nil {
		t.Fatal(err)
	}
	foreign := data
	foreign.Trials = append([]record.TrialData{}, data.Trials...)
	foreign.Trials[0].Manifest.Run.UID = "another"
	for name, tc := range map[string]struct {
		store rounds
		at    suite.Measured
		// why and err are parts of what is said; where both are empty, the table is read.
		why, err string
	}{
		"its report":                   {rounds{report: body}, suite.Measured{Prefix: "r/there", Report: "r/there/reports/abc/report.html"}, "", ""},
		"its records":                  {rounds{data: data}, suite.Measured{Prefix: "r/there"}, "", ""},
		"it has left nothing":          {rounds{}, suite.Measured{}, "without a report", ""},
		"its report is gone":           {rounds{trouble: artifact.ErrNotFound}, suite.Measured{Prefix: "r/gone", Report: "r/gone/reports/abc/report.html"}, artifact.ErrNotFound.Error(), ""},
		"its records are gone":         {rounds{trouble: artifact.ErrNotFound}, suite.Measured{Prefix: "r/gone"}, artifact.ErrNotFound.Error(), ""},
		"its report is something else": {rounds{}, suite.Measured{Prefix: "r/text", Report: "r/text/reports/abc/report.html"}, "no JSON", ""},
		"its records contradict":       {rounds{data: foreign}, suite.Measured{Prefix: "r/there"}, "making the report", ""},
		"the store is away":            {rounds{trouble: artifact.ErrUnreachable}, suite.Measured{Prefix: "r/x", Report: "r/x/reports/abc/report.html"}, "", artifact.ErrUnreachable.Error()},
		"the store is away, records":   {rounds{trouble: artifact.ErrUnreachable}, suite.Measured{Prefix: "r/x"}, "", artifact.ErrUnreachable.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			got, why, err := tableOf(t.Context(), tc.store, tc.at)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("it ends with %v, want %q", err, tc.err)
			}
			if (why == "") != (tc.why == "") || !strings.Contains(why, tc.why) {
				t.Errorf("it says %q, want %q", why, tc.why)
			}
			if read := len(got.Comparisons) > 0; read != (tc.why == "" && tc.err == "") {
				t.Errorf("the table is read: %v", read)
			}
		})
	}
}
