package comparisons

import (
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
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
	words, why := v.CaseVerdict(r)
	if why != "" {
		words += " (" + why + ")"
	}
	return table.Row{Muted: !r.Decided(), Cells: []table.Cell{
		table.Word(r.Implementation), table.Word(v.CaseMetric(string(r.Metric), r.Unit, r.Better)),
		table.Num(v.ChangeOf(*r.Result)), table.Num(v.EffectInterval(*r.Result)), table.Count(r.Blocks), table.Num(format.Probability(r.AdjustedP)), table.Word(words),
	}}
}
