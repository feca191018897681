package levels

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// levelWidth is the least width of a level, in pixels.
const levelWidth = 56

type quantity struct {
	title, unit, point string
	summary            func(validity.Group) *inference.Summary
	value              func(validity.Cell) *float64
	print              func(float64) string
	// bounds: the generator can make values lower bounds.
	bounds bool
}

var (
	throughputQuantity = quantity{
		title: "throughput.title", unit: "throughput.unit", point: "point.throughput", print: format.Rate, bounds: true,
		summary: func(g validity.Group) *inference.Summary { return g.Throughput },
		value:   func(c validity.Cell) *float64 { return c.Throughput },
	}
	cpuQuantity = quantity{
		title: "cpu.title", unit: "cpu.unit", point: "point.cpu", print: format.Micros,
		summary: func(g validity.Group) *inference.Summary { return g.CPUPerRequest },
		value:   func(c validity.Cell) *float64 { return c.CPUPerRequest },
	}
)

// facet is one load under one model: its axis is either connections or an arrival rate.
type facet struct {
	load string
	// open means an imposed arrival rate.
	open   bool
	levels []planned.Level
}

type facetCharts struct {
	Title  string
	Charts []chart.Chart
}

// facets lists loads with levels of both models twice.
func (v levels) facets() []facet {
	var out []facet
	for _, l := range v.Table.Levels {
		open := l.RequestsPerSecond > 0
		k := slices.IndexFunc(out, func(f facet) bool { return f.load == l.Load && f.open == open })
		if k < 0 {
			k, out = len(out), append(out, facet{load: l.Load, open: open})
		}
		out[k].levels = append(out[k].levels, l)
	}
	return out
}

// levelCharts is empty if the run has only searches.
func (v levels) levelCharts() []facetCharts {
	var out []facetCharts
	facets := v.facets()
	for _, f := range facets {
		key := "facet.closed"
		if f.open {
			key = "facet.open"
		}
		c := facetCharts{Charts: []chart.Chart{v.levelChart(f, throughputQuantity), v.levelChart(f, cpuQuantity)}}
		if len(facets) > 1 {
			c.Title = v.Say(key, f.load)
		}
		out = append(out, c)
	}
	return out
}

func (v levels) levelChart(f facet, q quantity) chart.Chart {
	contenders := v.Drawn()
	c := chart.Chart{
		Title: v.Say(q.title), Unit: v.Say(q.unit), Height: chart.Height,
		MinWidth: len(f.levels) * max(len(contenders)*chart.SlotWidth, levelWidth), Name: v.Say("levels.name", v.Say(q.title), f.load),
	}
	if f.open && q.bounds {
		c.Unit = v.Say("throughput.imposed")
	}
	largest := 0.0
	for _, l := range f.levels {
		for _, i := range contenders {
			g := v.Table.Group(l.Point, i.Name)
			for _, cell := range g.Cells {
				if value := q.value(cell); value != nil && cell.Validity != validity.Void {
					largest = max(largest, *value)
				}
			}
			if s := q.summary(*g); s != nil && s.High != nil && *s.High < 2*s.Max {
				largest = max(largest, *s.High)
			}
		}
	}
	ticks := chart.NiceTicks(largest)
	y := chart.Span{Low: 0, High: ticks[len(ticks)-1], From: chart.Bottom, To: chart.Top}
	c.Grid(y, ticks, format.TickNumber)
	c.Plot = append(c.Plot, v.levelAxis(f)...)
	for _, i := range v.ReferencesDrawn() {
		c.Plot = append(c.Plot, v.referenceMarks(f, q, y, i)...)
	}
	for k, i := range contenders {
		c.Plot = append(c.Plot, v.series(f, q, y, k, len(contenders), i)...)
	}
	return c
}

func (v levels) levelAxis(f facet) []chart.Mark {
	var out []chart.Mark
	key, second := "axis.connections", false
	if f.open {
		key = "axis.rate"
		second = slices.ContainsFunc(f.levels, func(l planned.Level) bool { return l.Connections != f.levels[0].Connections })
	}
	for k, l := range f.levels {
		center := chart.Percentage((float64(k) + 0.5) * 100 / float64(len(f.levels)))
		out = append(out, chart.Text(center, chart.Pixels(chart.Bottom+17), "middle", "tick", v.tick(l)))
		if second {
			out = append(out, chart.Text(center, chart.Pixels(chart.Bottom+30), "middle", "tick faint", v.Count("connections", int(l.Connections))))
		}
	}
	return append(out, chart.Text("50%", chart.Pixels(chart.Height-5), "middle", "tick faint", v.Say(key)))
}

func (v levels) tick(l planned.Level) string {
	switch {
	case l.RampToRequestsPerSecond > 0:
		return v.Say("level.tick.ramp", format.Integer(l.RequestsPerSecond), format.Integer(l.RampToRequestsPerSecond))
	case l.RequestsPerSecond > 0:
		return format.Integer(l.RequestsPerSecond)
	}
	return format.Integer(l.Connections)
}

// referenceMarks draws a reference as a line across each level, or as an arrow if it lies outside the contenders'
// scale.
func (v levels) referenceMarks(f facet, q quantity, y chart.Span, i planned.Implementation) []chart.Mark {
	var out []chart.Mark
	width := 100 / float64(len(f.levels))
	for k, l := range f.levels {
		g := v.Table.Group(l.Point, i.Name)
		s := q.summary(*g)
		if s == nil {
			continue
		}
		place := func(share float64) string { return chart.Percentage((float64(k) + share) * width) }
		left, right, middle := place(0.04), place(0.96), place(0.5)
		value := q.print(s.Mean)
		if q.bounds && g.ThroughputIsBound {
			value = v.Say("atleast", value)
		}
		label := v.Say("reference.label", i.Name, value)
		if y.Holds(s.Mean) {
			at := y.At(s.Mean)
			out = append(out,
				chart.Line(left, chart.Pixels(at), right, chart.Pixels(at), "reference"),
				chart.Text(middle, chart.Pixels(at-4), "middle", "tick reference", label),
			)
			continue
		}
		out = append(out,
			chart.Mark{Kind: "up", X: middle, Y: chart.Pixels(chart.Top - 6), Class: "arrow"},
			chart.Text(middle, chart.Pixels(chart.Top-13), "middle", "tick reference", label),
		)
	}
	return out
}

// series draws one implementation's blocks, means and intervals, with a faint line between means.
func (v levels) series(f facet, q quantity, y chart.Span, index, of int, implementation planned.Implementation) []chart.Mark {
	var out []chart.Mark
	look := v.Looks[implementation.Name]
	width := 100 / float64(len(f.levels))
	slot := width * (1 - 2*chart.Pad) / float64(of)
	lastX, lastY := "", ""
	for k, l := range f.levels {
		g := v.Table.Group(l.Point, implementation.Name)
		left := float64(k)*width + width*chart.Pad + slot*float64(index)
		s := q.summary(*g)
		if s == nil {
			lastX = ""
		} else {
			x, at := chart.Percentage(left+slot/2), chart.Pixels(y.At(s.Mean))
			if lastX != "" {
				out = append(out, chart.Line(lastX, lastY, x, at, "path "+look.Class))
			}
			lastX, lastY = x, at
			out = append(out, shade(*s, y, left+slot*0.05, slot*0.9, look)...)
		}
		out = append(out, v.points(q, y, *g, left+slot*0.14, slot*0.72, look)...)
		if s != nil {
			at := chart.Pixels(y.At(s.Mean))
			out = append(out, chart.Line(chart.Percentage(left+slot*0.05), at, chart.Percentage(left+slot*0.95), at, "mean "+look.Class))
		}
	}
	return out
}

func shade(s inference.Summary, y chart.Span, left, width float64, look chart.Look) []chart.Mark {
	if s.Low == nil || s.High == nil {
		return nil
	}
	top, bottom := y.At(y.Clip(*s.High)), y.At(y.Clip(*s.Low))
	return []chart.Mark{{
		Kind: "band", Class: "shade " + look.Class,
		X: chart.Percentage(left), Y: chart.Pixels(top), W: chart.Percentage(width), H: chart.Pixels(max(bottom-top, 0.5)),
	}}
}

func (v levels) points(q quantity, y chart.Span, g validity.Group, left, width float64, look chart.Look) []chart.Mark {
	var out []chart.Mark
	blocks := max(v.Table.Run.Blocks, 1)
	for _, c := range g.Cells {
		value := q.value(c)
		if value == nil || !y.Holds(*value) {
			continue
		}
		at := 0.5
		if blocks > 1 {
			at = float64(c.Block-1) / float64(blocks-1)
		}
		m := chart.Mark{Kind: look.Shape, X: chart.Percentage(left + width*at), Y: chart.Pixels(y.At(*value)), Class: "dotted point " + look.Class}
		m.Title = v.Say(q.point, g.Implementation, format.Integer(c.Block), q.print(*value))
		switch {
		case c.Validity == validity.Void:
			m.Kind, m.Class, m.Title = "cross", "void", v.Say("point.void", m.Title)
		case q.bounds && c.ThroughputIsBound:
			m.Class, m.Title = "dotted hollow "+look.Class, v.Say("point.bound", m.Title)
		}
		out = append(out, m)
	}
	return out
}
