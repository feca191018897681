package report

import (
	_ "embed"

	"loadstone.dev/loadstone/internal/report/comparisons"
	"loadstone.dev/loadstone/internal/report/levels"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/profiles"
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

// Sections make all that a page can have, in their order. A new one is a line here.
var Sections = []func(*view.View) page.Section{
	of(run.objectives),
	comparisons.Effects,
	comparisons.Compared,
	comparisons.Values,
	comparisons.Capacity,
	levels.Levels,
	levels.Latency,
	levels.OverTime,
	levels.Numbers,
	comparisons.Tests,
	of(run.scaling),
	profiles.Profiles,
	of(run.noise),
	of(run.care),
	of(run.method),
	of(run.settings),
	of(run.environment),
	of(run.builds),
	of(run.claims),
	of(run.plan),
	func(v *view.View) page.Section { return run{v}.data(levels.Details(v)) },
}

// of lets a section of any run be made as those of the other packages are.
func of(section func(run) page.Section) func(*view.View) page.Section {
	return func(v *view.View) page.Section { return section(run{v}) }
}

// sections are all that a page can have, in their order.
func sections(v *view.View) []page.Section {
	var out []page.Section
	for _, section := range Sections {
		out = append(out, section(v))
	}
	return out
}
