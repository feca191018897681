package comparisons

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/table"
)

func texts(t table.Table) map[string][][]string {
	out := map[string][][]string{}
	for _, b := range t.Bodies {
		for _, r := range b.Rows {
			var row []string
			for _, c := range r.Cells {
				row = append(row, c.Text)
			}
			out[b.Title] = append(out[b.Title], row)
		}
	}
	return out
}

func TestARunWithoutProgramsHasNoValues(t *testing.T) {
	v := shown()
	if s := Values(v.View); s.Data != nil {
		t.Errorf("there are values: %+v", s.Data)
	}
	if s := Compared(v.View); s.Data != nil {
		t.Errorf("there are comparisons: %+v", s.Data)
	}
}

func TestEveryValueStandsUnderItsCase(t *testing.T) {
	void := timed("new", "copy", 8)
	void.Summary, void.Repetitions = nil, 1
	few := timed("new", "move", 1234.2)
	few.Summary.N, few.Summary.Low, few.Summary.High, few.Summary.RelativeStdDev = 2, nil, nil, ptr(0.031)
	rate := timed("old", "copy", 5)
	rate.Metric, rate.Unit, rate.Better = "copiesPerSecond", "1/s", record.MoreIsBetter
	got := texts(shown(timed("old", "copy", 10), rate, timed("old", "move", 2), void, few).values())
	want := map[string][][]string{
		"copy": {
			{"old", "Time (ns, less is better)", "10.0", "9.50–10.5", "–", "7 of 7", "3"},
			{"old", "copiesPerSecond (1/s, more is better)", "5.00", "4.75–5.25", "–", "7 of 7", "3"},
			{"new", "Time (ns, less is better)", "–", "–", "–", "0 of 7", "1"},
		},
		"move": {
			{"old", "Time (ns, less is better)", "2.00", "1.90–2.10", "–", "7 of 7", "3"},
			{"new", "Time (ns, less is better)", "1,234", "–", "3.10 %", "2 of 7", "3"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGapsAreSentences(t *testing.T) {
	v := shown()
	v.Table.CaseGaps = []analysis.CaseGap{
		{Implementation: "new", Case: "print", Processes: 7}, {Implementation: "old", Case: "sort", Processes: 1, Failure: "no <paper>"},
	}
	v.Table.Unread = []analysis.UnreadOutput{
		{Implementation: "new", Processes: 2, Parts: 10, Block: 3, Unread: record.Unread{Line: 7, Text: "hello", Why: "no JSON"}},
		{Implementation: "old", Processes: 1, Parts: 1, Block: 1, Unread: record.Unread{Why: "too much"}},
	}
	v.Table.CaseNames = []analysis.CaseName{
		{Implementation: "new", CaseName: record.CaseName{Printed: "BM_*", Name: "*"}, Cases: 4},
		{Implementation: "old", CaseName: record.CaseName{Printed: "BM_Copy", Name: "copy"}},
	}
	want := []string{
		"new did not print the case print (7 processes).", "The case sort of old gave no value in 1 process: no <paper>",
		"BM_* of new is taken for * (4 cases).",
		"spec.microbenchmark.outputs renames BM_Copy of old, which printed no such case: correct the name, as the report shows it.",
		`What new printed could not be read as a whole in 2 processes (10 parts), first in block 3: line 7: no JSON (it begins with "hello")`,
		"What old printed could not be read as a whole in 1 process (1 part), first in block 1: too much",
	}
	if diff := cmp.Diff(want, v.gaps()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProcessesAreAddedUpBySide(t *testing.T) {
	process := func(name string, seconds float64, pinned bool, of validity.Validity) validity.Program {
		p := validity.Program{Implementation: name, Seconds: seconds, Cell: validity.Cell{Validity: of}}
		p.Pinning.ServerPinned = pinned
		return p
	}
	v := shown()
	v.Table.Implementations = append(v.Table.Implementations, planned.Implementation{Name: "never started"})
	v.Table.Programs = []validity.Program{
		process("new", 3, true, validity.Valid), process("old", 1, true, validity.Valid),
		process("old", 2, false, validity.Void), process("old", 6, true, validity.Suspect),
	}
	want := map[string][][]string{"": {{"old", "3", "3.00", "2", "1"}, {"new", "1", "3.00", "1", "0"}}}
	if diff := cmp.Diff(want, texts(v.processes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAComparisonSaysWhatStandsAgainstIt(t *testing.T) {
	row := func(name string, void int, said verdict.Verdict, why verdict.Reason) verdict.RowComparison {
		return verdict.RowComparison{
			Implementation: "new", Baseline: "old", Case: name, Unit: "ns", Better: record.LessIsBetter, VoidBlocks: void,
			Result: &verdict.Result{
				Metric: "Time", Ratio: ptr(1.2), Low: ptr(1.1), High: ptr(1.3), AdjustedP: ptr(0.001), Blocks: 8, FewestPairs: 8, Verdict: said, Reason: why,
			},
		}
	}
	gone := timed("old", "empty", 0.1)
	gone.OptimisedAway = true
	v := shown(gone, timed("new", "empty", 0.1))
	v.Table.Rows = []verdict.RowComparison{
		row("copy", 0, verdict.Worse, ""), row("move", 2, verdict.Inconclusive, verdict.ZeroHasNoRatio), row("empty", 0, verdict.Worse, ""),
	}
	said := map[string]string{}
	for title, rows := range texts(v.compared()) {
		said[title] = rows[0][2] + ", " + rows[0][3] + ", " + rows[0][6]
	}
	want := map[string]string{
		"copy":  "+20.0 %, +10.0 % to +30.0 %, worse",
		"move":  "+20.0 %, +10.0 % to +30.0 %, inconclusive (a value of 0 has no ratio; void in 2 blocks)",
		"empty": "+20.0 %, +10.0 % to +30.0 %, worse (the work of old was probably optimised away)",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
