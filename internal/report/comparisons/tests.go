package comparisons

import (
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

func (v comparisons) testsTable() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("at"), v.Th("metric"), v.ThNum("blocks"), v.ThNum("change"), v.ThInterval(), v.ThNum("pt"), v.ThNum("padj"), v.ThNum("pflip"),
		v.ThNum("detectable"), v.Th("verdict"),
	}}
	for _, c := range v.Table.Comparisons {
		s := table.Body{Title: v.Say("comparison.heading", c.Implementation, c.Baseline)}
		for _, e := range v.Effects(c) {
			s.Rows = append(s.Rows, v.testRows(e)...)
		}
		t.Bodies = append(t.Bodies, s)
	}
	return t
}

func (v comparisons) testRows(e view.Effect) []table.Row {
	var out []table.Row
	for _, decides := range []bool{true, false} {
		for _, r := range e.Results {
			if r.Decides == decides {
				out = append(out, v.testRow(e, r))
			}
		}
	}
	return out
}

func (v comparisons) testRow(e view.Effect, r verdict.Result) table.Row {
	metric := table.Word(v.Metric(r.Metric))
	if r.Decides {
		metric.Sub = v.Say("decides")
	}
	outcome, reason := e.Said(r)
	verdict, why := v.RowVerdict(r, outcome, reason)
	return table.Row{Muted: !r.Decides, Cells: []table.Cell{
		table.Word(e.Label), metric, table.Count(r.Blocks), table.Num(v.ChangeOf(r)), table.Num(v.ChangeLimits(r)),
		table.Num(format.Probability(r.P)), table.Num(format.Probability(r.AdjustedP)), table.Num(format.Probability(r.SignFlipP)),
		table.Num(format.OrMissing(r.Detectable, format.Percent)),
		{Text: verdict, Sub: why, Tone: view.Tone(outcome)},
	}}
}
