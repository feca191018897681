package report

import (
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/verdict"
)

// cases is the section on values that are compared as they are, whatever kind of work they come from; it has no data if there is none.
func (v run) cases() page.Section {
	out := v.section("cases", "cases.title")
	if len(v.Table.Rows) == 0 {
		return out
	}
	e := page.Extra{Leads: []string{v.Say("cases.lead", v.Table.Run.Baseline)}}
	e.Table.Head = []table.Cell{
		v.Th("impl"), v.Th("metric"), v.ThNum("change"), v.ThInterval(), v.ThNum("blocks"), v.ThNum("padj"), v.Th("verdict"),
	}
	for i, r := range v.Table.Rows {
		if i == 0 || v.Table.Rows[i-1].Case != r.Case {
			e.Table.Bodies = append(e.Table.Bodies, table.Body{Title: r.Case})
		}
		body := &e.Table.Bodies[len(e.Table.Bodies)-1]
		body.Rows = append(body.Rows, v.caseRow(r))
	}
	e.Table = e.Table.Finish(out.Title, true)
	out.Data = e
	return out
}

func (v run) caseRow(r verdict.RowComparison) table.Row {
	words, why := v.RowVerdict(*r.Result, r.Verdict, r.Reason)
	if why != "" {
		words += " (" + why + ")"
	}
	return table.Row{Muted: !r.Decided(), Cells: []table.Cell{
		table.Word(r.Implementation), table.Word(v.Say("cases.metric", string(r.Metric), r.Unit, v.Say("cases."+string(r.Better)))),
		table.Num(v.ChangeOf(*r.Result)), table.Num(v.EffectInterval(*r.Result)), table.Count(r.Blocks), table.Num(format.Probability(r.AdjustedP)), table.Word(words),
	}}
}
