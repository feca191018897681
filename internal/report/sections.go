package report

import (
	_ "embed"

	"loadstone.dev/loadstone/internal/report/comparisons"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/levels"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/profiles"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed sections.gohtml
var text string

var templates = page.Templates(text)

type run struct{ *view.View }

func (v run) section(id, title string) page.Section {
	return page.Section{ID: id, Title: v.Say(title), Templates: templates}
}

// Sections makes all sections in order. A new one adds a line here.
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

func of(section func(run) page.Section) func(*view.View) page.Section {
	return func(v *view.View) page.Section { return section(run{v}) }
}

func sections(v *view.View) []page.Section {
	var out []page.Section
	for _, section := range Sections {
		out = append(out, section(v))
	}
	return out
}

func (v run) data(details []page.Detail) page.Section {
	s := v.section("data", "details.title")
	title := v.Say("artifacts.title")
	s.Data = append(details, page.Detail{Title: title, Lead: v.Say("artifacts.lead"), Table: v.artifactTable().Finish(title, false)})
	return s
}

func (v run) artifactTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("key"), v.ThNum("bytes"), v.Th("sha")}}
	var s table.Body
	for _, a := range v.Table.Artifacts {
		key := table.Mono(a.Key)
		if key.Link = v.Beside(a.Key); key.Link != "" {
			key.Text = v.BelowRun(a.Key)
		}
		s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{key, table.Count(a.Bytes), table.Mono(a.SHA256)}})
	}
	t.Bodies = append(t.Bodies, s)
	return t
}

func (v run) method() page.Section {
	s := v.section("method", "method.title")
	rules, percent := v.Table.Rules, format.PlainPercent
	order := "method.1"
	if v.Table.Trends.Mirrored {
		order = "method.1.mirrored"
	}
	s.Data = []string{
		format.Join(" ", v.Say(order), v.trends()),
		v.Say("method.2"),
		v.Say("method.3", percent(rules.LoadsShare), percent(rules.DecidingShare), percent(1-rules.LoadsShare), format.Integer(rules.MinBlocks)),
		v.Say("method.4", v.Confidence(), percent(rules.EquivalenceMargin)),
		v.Say("method.5"),
	}
	return s
}
