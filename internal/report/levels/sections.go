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

// levels shows what was measured at the levels of a run.
type levels struct{ *view.View }

// section is a section of the package, still without data.
func (v levels) section(id, title string) page.Section {
	return page.Section{ID: id, Title: v.Say(title), Templates: templates}
}

// ofLoads adds to a sentence on numbers which of them are those of mixes, and which of HTTP/2.
func (v levels) ofLoads(lead string) string {
	return strings.Join(slices.Concat([]string{lead}, v.Mixes(), v.Protocols()), " ")
}

// Levels is the section of throughput and CPU time, level by level; it has no data in a run of searches alone.
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

// Latency is the section of latencies: their percentiles, and their whole distributions.
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

// OverTime is the section of throughput over time, where it was seen.
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

// Numbers is the section of speed, cost and validity of every implementation at every level.
func Numbers(w *view.View) page.Section {
	v := levels{w}
	s := v.section("numbers", "numbers.title")
	if t := v.speedTable(); len(t.Bodies) > 0 {
		s.Data = page.Detail{Lead: v.ofLoads(v.Say("numbers.lead")), Table: t.Finish(s.Title, true)}
	}
	return s
}

// Details are the tables of the package among all the data: the spread of each quantity, what was seen beside speed, and each cell.
func Details(w *view.View) []page.Detail {
	v := levels{w}
	detail := func(key string, t table.Table) page.Detail {
		title := v.Say(key + ".title")
		return page.Detail{Title: title, Lead: v.Say(key + ".lead"), Table: t.Finish(title, false)}
	}
	return []page.Detail{detail("spread", v.spreadTable()), detail("seen", v.seenTable()), detail("raw", v.rawTable())}
}
