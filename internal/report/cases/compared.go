package cases

import (
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/verdict"
)

// compared sets every contender's values beside the baseline's, case by case.
func (v cases) compared() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), v.Th("metric"), v.ThNum("change"), v.ThInterval(), v.ThNum("blocks"), v.ThNum("padj"), v.Th("verdict"),
	}}
	for i, r := range v.Table.Rows {
		if i == 0 || v.Table.Rows[i-1].Case != r.Case {
			t.Bodies = append(t.Bodies, table.Body{Title: r.Case})
		}
		body := &t.Bodies[len(t.Bodies)-1]
		body.Rows = append(body.Rows, v.comparison(r))
	}
	return t
}

func (v cases) comparison(r verdict.RowComparison) table.Row {
	words, why := v.RowVerdict(*r.Result, r.Verdict, r.Reason)
	if r.VoidBlocks > 0 {
		why = format.Join("; ", why, v.Say("cases.void", v.Count("blocks", r.VoidBlocks)))
	}
	for _, c := range v.Table.Cases {
		if c.OptimisedAway && c.Case == r.Case && c.Metric == string(r.Metric) && (c.Implementation == r.Implementation || c.Implementation == r.Baseline) {
			why = format.Join("; ", why, v.Say("cases.optimised", c.Implementation))
		}
	}
	if why != "" {
		words += " (" + why + ")"
	}
	return table.Row{Muted: !r.Decided(), Cells: []table.Cell{
		table.Word(r.Implementation), table.Word(v.metric(string(r.Metric), r.Unit, string(r.Better))),
		table.Num(v.ChangeOf(*r.Result)), table.Num(v.EffectInterval(*r.Result)), table.Count(r.Blocks), table.Num(format.Probability(r.AdjustedP)), table.Word(words),
	}}
}

// metric names a metric, its unit and which way is better.
func (v cases) metric(name, unit, better string) string {
	return v.Say("cases.metric", name, unit, v.Say("cases."+better))
}
