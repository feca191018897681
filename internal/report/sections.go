package report

import (
	_ "embed"

	"loadstone.dev/loadstone/internal/report/cases"
	"loadstone.dev/loadstone/internal/report/comparisons"
	"loadstone.dev/loadstone/internal/report/levels"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/profiles"
	"loadstone.dev/loadstone/internal/report/searches"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed sections.gohtml
var text string

var templates = page.Templates(text)

// run makes the sections that any run has, whatever was measured.
type run struct{ *view.View }

// section is a section of the package, still without data.
func (v run) section(id, title string) page.Section {
	return page.Section{ID: id, Title: v.Say(title), Templates: templates}
}

// sections are all that a page can have, in their order.
func sections(v *view.View) []page.Section {
	r := run{v}
	return []page.Section{
		r.objectives(),
		comparisons.Effects(v),
		cases.Compared(v),
		cases.Values(v),
		searches.Capacity(v),
		levels.Levels(v),
		levels.Latency(v),
		levels.OverTime(v),
		levels.Numbers(v),
		comparisons.Tests(v),
		r.scaling(),
		profiles.Profiles(v),
		r.noise(),
		r.care(),
		r.method(),
		r.settings(),
		r.environment(),
		r.builds(),
		r.claims(),
		r.plan(),
		r.data(levels.Details(v)),
	}
}
