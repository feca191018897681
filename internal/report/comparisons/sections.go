package comparisons

import (
	_ "embed"

	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed comparisons.gohtml
var text string

var templates = page.Templates(text)

type comparisons struct{ *view.View }

// Effects is the section with the picture of all effects.
func Effects(w *view.View) page.Section {
	v := comparisons{w}
	s := page.Section{ID: "comparison", Title: v.Say("forest.title", v.Table.Run.Baseline), Templates: templates}
	if f := v.forest(); f != nil {
		s.Data = f
	}
	return s
}

// Tests is the section on the tests and confidence of each comparison.
func Tests(w *view.View) page.Section {
	v := comparisons{w}
	s := page.Section{ID: "tests", Title: v.Say("tests.title"), Templates: templates}
	if t := v.testsTable(); len(t.Bodies) > 0 {
		lead := format.Join(" ", v.Say("tests.lead", format.Plain(v.Table.Rules.Alpha)), v.NoiseFloor(v.Table))
		s.Data = page.Detail{Lead: lead, Table: t.Finish(s.Title, true)}
	}
	return s
}
