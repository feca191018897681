package publish_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite"
)

// reports is a store in memory that has some reports and the records of a run, and trouble for all else.
type reports struct {
	objects map[string][]byte
	data    record.RunData
	trouble error
}

func (s reports) Load(_ context.Context, prefix string) (record.RunData, error) {
	if prefix != "r/there" {
		return record.RunData{}, fmt.Errorf("reading %s: %w", prefix, s.trouble)
	}
	return s.data, nil
}

func (s reports) Get(_ context.Context, key, _ string) ([]byte, error) {
	if body, ok := s.objects[key]; ok {
		return body, nil
	}
	return nil, fmt.Errorf("reading %s: %w", key, s.trouble)
}

func (reports) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

func TestTheHistoryOfASuiteIsReadFromItsReportsOrItsRecords(t *testing.T) {
	data := small()
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
	there := map[string][]byte{"r/there/reports/abc/report.json": body, "r/text/reports/abc/report.json": []byte("<html>")}
	at := func(name string) suite.Measured {
		return suite.Measured{Round: 3, Run: "small", Prefix: "r/" + name, Report: "r/" + name + "/reports/abc/report.html"}
	}
	placed := func(name string) suite.Measured { return suite.Measured{Round: 3, Run: "small", Prefix: "r/" + name} }
	for name, tc := range map[string]struct {
		at      suite.Measured
		data    record.RunData
		trouble error
		// gap and err are parts of what is said; where both are empty, the round is read.
		gap, err string
	}{
		"its report":                   {at: at("there")},
		"its records":                  {at: placed("there"), data: data},
		"it has left nothing":          {at: suite.Measured{Round: 3, Run: "small"}, gap: "without a report"},
		"its report is gone":           {at: at("gone"), trouble: artifact.ErrNotFound, gap: artifact.ErrNotFound.Error()},
		"its records are gone":         {at: placed("gone"), trouble: artifact.ErrNotFound, gap: artifact.ErrNotFound.Error()},
		"its report is something else": {at: at("text"), gap: "no JSON"},
		"its records contradict":       {at: placed("there"), data: foreign, gap: "making the report"},
		"the store is away":            {at: at("x"), trouble: artifact.ErrUnreachable, err: "reading small of round 3: "},
		"the store is away, records":   {at: placed("x"), trouble: artifact.ErrUnreachable, err: artifact.ErrUnreachable.Error()},
		"the store refuses the key":    {at: at("x"), trouble: artifact.ErrDenied, err: artifact.ErrDenied.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := publish.History(t.Context(), reports{there, tc.data, tc.trouble}, "checkout", []suite.Measured{tc.at})
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("it ends with %v, want %q", err, tc.err)
			}
			if tc.gap == "" != (len(h.Gaps) == 0) || tc.gap != "" && (h.Gaps[0].Round != 3 || h.Gaps[0].Run != "small" || !strings.Contains(h.Gaps[0].Reason, tc.gap)) {
				t.Errorf("its gaps are %+v, want %q", h.Gaps, tc.gap)
			}
			if read := len(h.Series) > 0; read != (tc.gap == "" && tc.err == "") || read && (h.Suite != "checkout" || h.Series[0].Values[0].Round != 3) {
				t.Errorf("its series are %+v", h.Series)
			}
		})
	}
}
