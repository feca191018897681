package report

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/validity"
)

const (
	levelHeight = 250
	levelTop    = 24
	levelBottom = 212
	// categoryPad is the share of a category that stays empty on each side.
	categoryPad = 0.09
	// slotWidth is the least width of one implementation at one level, in pixels, and levelWidth that of a level.
	slotWidth, levelWidth = 26, 56
)

// quantity is what a level chart shows.
type quantity struct {
	title, unit, point string
	summary            func(validity.Group) *inference.Summary
	value              func(validity.Cell) *float64
	print              func(float64) string
	// bounds is true if the generator can make values lower bounds.
	bounds bool
}

var (
	throughputQuantity = quantity{
		title: "throughput.title", unit: "throughput.unit", point: "point.throughput", print: rate, bounds: true,
		summary: func(g validity.Group) *inference.Summary { return g.Throughput },
		value:   func(c validity.Cell) *float64 { return c.Throughput },
	}
	cpuQuantity = quantity{
		title: "cpu.title", unit: "cpu.unit", point: "point.cpu", print: micros,
		summary: func(g validity.Group) *inference.Summary { return g.CPUPerRequest },
		value:   func(c validity.Cell) *float64 { return c.CPUPerRequest },
	}
)

// facet is one load under one model: levels whose axis has one meaning, either connections or an arrival rate.
type facet struct {
	load string
	// open is true where an arrival rate is imposed.
	open   bool
	levels []planned.Level
}

// facetCharts are the pictures of a facet.
type facetCharts struct {
	Title  string
	Charts []chart
}

// facets are the loads of the run, those with levels of both models twice.
func (v *view) facets() []facet {
	var out []facet
	for _, l := range v.t.Levels {
		open := l.RequestsPerSecond > 0
		k := slices.IndexFunc(out, func(f facet) bool { return f.load == l.Load && f.open == open })
		if k < 0 {
			k, out = len(out), append(out, facet{load: l.Load, open: open})
		}
		out[k].levels = append(out[k].levels, l)
	}
	return out
}

// levelCharts show every quantity in every facet; none in a run of searches alone.
func (v *view) levelCharts() []facetCharts {
	var out []facetCharts
	facets := v.facets()
	for _, f := range facets {
		key := "facet.closed"
		if f.open {
			key = "facet.open"
		}
		c := facetCharts{Charts: []chart{v.levelChart(f, throughputQuantity), v.levelChart(f, cpuQuantity)}}
		if len(facets) > 1 {
			c.Title = v.say(key, f.load)
		}
		out = append(out, c)
	}
	return out
}

// drawn are the implementations whose values make the scale of a picture: the contenders, or all where there are none.
func (v *view) drawn() []planned.Implementation {
	out := slices.DeleteFunc(slices.Clone(v.t.Implementations), func(i planned.Implementation) bool { return i.Role == record.RoleLimit })
	if len(out) == 0 {
		return v.t.Implementations
	}
	return out
}

// limits are the implementations that are drawn beside the scale.
func (v *view) limitsDrawn() []planned.Implementation {
	return slices.DeleteFunc(slices.Clone(v.t.Implementations), func(i planned.Implementation) bool {
		return slices.ContainsFunc(v.drawn(), func(d planned.Implementation) bool { return d.Name == i.Name })
	})
}

// levelChart shows one quantity of all implementations at the levels of a facet.
func (v *view) levelChart(f facet, q quantity) chart {
	contenders := v.drawn()
	c := chart{
		Title: v.say(q.title), Unit: v.say(q.unit), Height: levelHeight,
		MinWidth: len(f.levels) * max(len(contenders)*slotWidth, levelWidth), Name: v.say("levels.name", v.say(q.title), f.load),
	}
	if f.open && q.bounds {
		c.Unit = v.say("throughput.imposed")
	}
	largest := 0.0
	for _, l := range f.levels {
		for _, i := range contenders {
			g := v.t.Group(l.Point, i.Name)
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
	ticks := niceTicks(largest)
	y := span{low: 0, high: ticks[len(ticks)-1], from: levelBottom, to: levelTop}
	for _, t := range ticks {
		at := pixels(y.at(t))
		c.Plot = append(c.Plot, line("0%", at, "100%", at, "grid"))
		c.Axis = append(c.Axis, text("100%", pixels(y.at(t)+4), "end", "tick", axisNumber(t)))
	}
	c.Plot = append(c.Plot, v.levelAxis(f)...)
	for _, i := range v.limitsDrawn() {
		c.Plot = append(c.Plot, v.limitMarks(f, q, y, i)...)
	}
	for k, i := range contenders {
		c.Plot = append(c.Plot, v.series(f, q, y, k, len(contenders), i)...)
	}
	return c
}

// levelAxis labels the levels of a facet: with connections, or with arrival rates and, where these do not tell the levels apart, the
// connections below.
func (v *view) levelAxis(f facet) []mark {
	var out []mark
	key, second := "axis.connections", false
	if f.open {
		key = "axis.rate"
		second = slices.ContainsFunc(f.levels, func(l planned.Level) bool { return l.Connections != f.levels[0].Connections })
	}
	for k, l := range f.levels {
		center := percentage((float64(k) + 0.5) * 100 / float64(len(f.levels)))
		out = append(out, text(center, pixels(levelBottom+17), "middle", "tick", v.tick(l)))
		if second {
			out = append(out, text(center, pixels(levelBottom+30), "middle", "tick faint", v.count("connections", int(l.Connections))))
		}
	}
	return append(out, text("50%", pixels(levelHeight-5), "middle", "tick faint", v.say(key)))
}

// tick is a level's label on the axis of its facet.
func (v *view) tick(l planned.Level) string {
	switch {
	case l.RampToRequestsPerSecond > 0:
		return v.say("level.tick.ramp", integer(int64(l.RequestsPerSecond)), integer(int64(l.RampToRequestsPerSecond)))
	case l.RequestsPerSecond > 0:
		return integer(int64(l.RequestsPerSecond))
	}
	return integer(int64(l.Connections))
}

// axisNumber prints a tick shortly: 50k rather than 50,000.
func axisNumber(t float64) string {
	switch {
	case t >= 1e6:
		return fmt.Sprintf("%gM", t/1e6)
	case t >= 1e4:
		return fmt.Sprintf("%gk", t/1e3)
	}
	return fmt.Sprintf("%g", t)
}

// limitMarks draw a limit as a line across each level, or as an arrow at the edge of the scale, which follows the contenders.
func (v *view) limitMarks(f facet, q quantity, y span, i planned.Implementation) []mark {
	var out []mark
	width := 100 / float64(len(f.levels))
	for k, l := range f.levels {
		g := v.t.Group(l.Point, i.Name)
		s := q.summary(*g)
		if s == nil {
			continue
		}
		left, right, middle := percentage((float64(k)+0.04)*width), percentage((float64(k)+0.96)*width), percentage((float64(k)+0.5)*width)
		value := q.print(s.Mean)
		if q.bounds && g.ThroughputIsBound {
			value = v.say("atleast", value)
		}
		label := v.say("limit.label", i.Name, value)
		if y.holds(s.Mean) {
			at := y.at(s.Mean)
			out = append(out, line(left, pixels(at), right, pixels(at), "limit"), text(middle, pixels(at-4), "middle", "tick limit", label))
			continue
		}
		out = append(out, mark{Kind: "up", X: middle, Y: pixels(levelTop - 6), Class: "arrow"}, text(middle, pixels(levelTop-13), "middle", "tick limit", label))
	}
	return out
}

// series draws one implementation: at each level its blocks, their mean and its interval, and a faint line from mean to mean.
func (v *view) series(f facet, q quantity, y span, index, of int, implementation planned.Implementation) []mark {
	var out []mark
	look := v.looks[implementation.Name]
	width := 100 / float64(len(f.levels))
	slot := width * (1 - 2*categoryPad) / float64(of)
	lastX, lastY := "", ""
	for k, l := range f.levels {
		g := v.t.Group(l.Point, implementation.Name)
		left := float64(k)*width + width*categoryPad + slot*float64(index)
		s := q.summary(*g)
		if s == nil {
			lastX = ""
		} else {
			x, at := percentage(left+slot/2), pixels(y.at(s.Mean))
			if lastX != "" {
				out = append(out, line(lastX, lastY, x, at, "path "+look.Class))
			}
			lastX, lastY = x, at
			out = append(out, shade(*s, y, left+slot*0.05, slot*0.9, look)...)
		}
		out = append(out, v.points(q, y, *g, left+slot*0.14, slot*0.72, look)...)
		if s != nil {
			at := pixels(y.at(s.Mean))
			out = append(out, line(percentage(left+slot*0.05), at, percentage(left+slot*0.95), at, "mean "+look.Class))
		}
	}
	return out
}

// shade draws the interval of a mean; none of a lower bound, whose upper end is open.
func shade(s inference.Summary, y span, left, width float64, look look) []mark {
	if s.Low == nil || s.High == nil {
		return nil
	}
	top, bottom := y.at(y.clip(*s.High)), y.at(y.clip(*s.Low))
	return []mark{{
		Kind: "band", X: percentage(left), Y: pixels(top), W: percentage(width), H: pixels(max(bottom-top, 0.5)), Class: "shade " + look.Class,
	}}
}

// points draw every block, in the order of the blocks.
func (v *view) points(q quantity, y span, g validity.Group, left, width float64, look look) []mark {
	var out []mark
	blocks := max(v.t.Run.Blocks, 1)
	for _, c := range g.Cells {
		value := q.value(c)
		if value == nil || !y.holds(*value) {
			continue
		}
		at := 0.5
		if blocks > 1 {
			at = float64(c.Block-1) / float64(blocks-1)
		}
		m := mark{Kind: look.Shape, X: percentage(left + width*at), Y: pixels(y.at(*value)), Class: "dotted point " + look.Class}
		m.Title = v.say(q.point, g.Implementation, integer(int64(c.Block)), q.print(*value))
		switch {
		case c.Validity == validity.Void:
			m.Kind, m.Class, m.Title = "cross", "void", v.say("point.void", m.Title)
		case q.bounds && c.ThroughputIsBound:
			m.Class, m.Title = "dotted hollow "+look.Class, v.say("point.bound", m.Title)
		}
		out = append(out, m)
	}
	return out
}

// levelName names a level with its load, pointName without.
func (v *view) levelName(p record.Point) string { return v.say("forest.level", p.Load, v.pointName(p)) }
