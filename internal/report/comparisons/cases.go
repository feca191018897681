package comparisons

import (
	_ "embed"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed cases.gohtml
var caseText string

var caseTemplates = page.Templates(caseText)

// cases shows what programs have printed.
type cases struct{ *view.View }

// Compared is the section on values that are compared as they are, whatever kind of work they come from; it has no data if there is none.
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

// Values is the section of what every program has printed, with what its processes suffered; it has no data if no program measures itself.
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
