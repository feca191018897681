package comparisons

import (
	_ "embed"

	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed cases.gohtml
var caseText string

var caseTemplates = page.Templates(caseText)

type cases struct{ *view.View }

// Compared is the section on values that are compared as they are, from any kind of work.
func Compared(w *view.View) page.Section {
	v := cases{w}
	s := page.Section{ID: "cases", Title: v.Say("cases.title"), Templates: caseTemplates}
	if len(v.Table.Rows) > 0 {
		s.Data = struct {
			Lead  string
			Table table.Table
		}{v.Say("cases.lead", v.Table.Run.Baseline), v.compared().Finish(s.Title, true)}
	}
	return s
}

// Values is the section on the programs' output and processes.
func Values(w *view.View) page.Section {
	v := cases{w}
	s := page.Section{ID: "values", Title: v.Say("values.title"), Templates: caseTemplates}
	if len(v.Table.Programs) == 0 {
		return s
	}
	processes := v.Say("processes.title")
	s.Data = struct {
		Lead           string
		Legend         []chart.Legend
		Charts         []chart.Chart
		Gaps           []string
		Table          table.Table
		ProcessesTitle string
		Processes      table.Table
	}{
		v.Say("values.lead", v.Confidence()), v.Legend(v.Table.Implementations), v.charts(), v.gaps(), v.values().Finish(s.Title, true),
		processes, v.processes().Finish(processes, true),
	}
	return s
}

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
