package levels

import (
	_ "embed"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed levels.gohtml
var text string

var templates = page.Templates(text)

type levels struct{ *view.View }

func (v levels) section(id, title string) page.Section {
	return page.Section{ID: id, Title: v.Say(title), Templates: templates}
}

// ofLoads adds which numbers are of mixes or of HTTP/2.
func (v levels) ofLoads(lead string) string {
	return strings.Join(slices.Concat([]string{lead}, v.Mixes(), v.Protocols()), " ")
}

// Levels is the section on throughput and CPU time by level.
func Levels(w *view.View) page.Section {
	v := levels{w}
	s := v.section("levels", "levels.title")
	if facets := v.levelCharts(); len(facets) > 0 {
		s.Data = struct {
			Lead   string
			Legend []chart.Legend
			Facets []facetCharts
		}{v.ofLoads(v.Say("levels.lead", v.Confidence())), v.Legend(v.Drawn()), facets}
	}
	return s
}

// Latency is the section on percentiles and distributions of latency.
func Latency(w *view.View) page.Section {
	v := levels{w}
	s := v.section("latency", "latency.title")
	if len(v.Table.Levels) == 0 {
		return s
	}
	kinds := v.Say("latency.kinds")
	s.Data = struct {
		Lead       string
		Table      table.Table
		KindsTitle string
		Kinds      table.Table
		CurvesLead string
		Legend     []chart.Legend
		Curves     []chart.Chart
	}{
		v.ofLoads(v.latencyLead()), v.latencyTable().Finish(s.Title, true), kinds, v.kindsTable().Finish(kinds, false),
		v.Say("latency.curves"), v.Legend(v.Table.Implementations), v.latencyCharts(),
	}
	return s
}

// OverTime is the section on throughput over time.
func OverTime(w *view.View) page.Section {
	v := levels{w}
	s := v.section("time", "over.title")
	if charts := v.overTimeCharts(); len(charts) > 0 {
		s.Data = struct {
			Lead   string
			Charts []chart.Chart
			Dips   []string
		}{v.Say("over.lead"), charts, v.dips()}
	}
	return s
}

// Numbers is the section on speed, cost and validity of every implementation and level.
func Numbers(w *view.View) page.Section {
	v := levels{w}
	s := v.section("numbers", "numbers.title")
	if t := v.speedTable(); len(t.Bodies) > 0 {
		s.Data = page.Detail{Lead: v.ofLoads(v.Say("numbers.lead")), Table: t.Finish(s.Title, true)}
	}
	return s
}

// Details returns the package's tables for the section of all data.
func Details(w *view.View) []page.Detail {
	v := levels{w}
	detail := func(key string, t table.Table) page.Detail {
		title := v.Say(key + ".title")
		return page.Detail{Title: title, Lead: v.Say(key + ".lead"), Table: t.Finish(title, false)}
	}
	return []page.Detail{detail("spread", v.spreadTable()), detail("seen", v.seenTable()), detail("raw", v.rawTable())}
}
