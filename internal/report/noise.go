package report

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

// floorBeside is the noise floor of an objective's value, if known.
func (v run) floorBeside(o objectives.Result) string {
	m := verdict.Metric(o.Metric)
	if o.Of != "" {
		m = verdict.MetricOf(o.Of, o.Percentile)
	}
	if o.Metric == v1alpha1.ObjectiveErrorRate || v.Table.FloorOf(m) == nil {
		return format.Missing
	}
	return format.Percent(v.Table.FloorOf(m).Detectable)
}

func (v run) noise() page.Section {
	out := v.section("noise", "noise.title")
	if !v.Table.Calibrates() {
		return out
	}
	c := v.Table.NoiseFloor
	e := page.Extra{Leads: []string{
		v.Say("noise.own"), v.Say("noise.lead", c.Implementations[0], c.Implementations[1], v.Count("blocks", c.Blocks)),
	}}
	e.Table.Head = []table.Cell{v.Th("at"), v.Th("metric"), v.ThNum("pairs"), v.ThNum("logsd"), v.ThNum("noisefloor")}
	var s table.Body
	for _, n := range c.Entries {
		at := v.Say("noise.levels")
		if n.Point != nil {
			at = v.LevelName(*n.Point)
		}
		s.Rows = append(s.Rows, table.Row{Muted: n.Point != nil, Cells: []table.Cell{
			table.Word(at), table.Word(v.Say("metric." + n.Metric)), table.Count(n.N),
			table.Num(format.Percent(n.LogStdDev)), table.Num(format.Percent(n.Detectable)),
		}})
	}
	e.Table.Bodies = []table.Body{s}
	e.Table = e.Table.Finish(out.Title, true)
	out.Data = e
	return out
}
