package report

import (
	"fmt"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats"
)

const (
	levelHeight = 250
	levelTop    = 14
	levelBottom = 212
	// categoryPad is the share of a category that stays empty on each side.
	categoryPad = 0.09
	// slotWidth is the least width of one implementation at one level, in pixels.
	slotWidth = 22
)

// quantity is what a level chart shows.
type quantity struct {
	title, unit, point string
	summary            func(stats.Group) *stats.Summary
	value              func(stats.Cell) *float64
	print              func(float64) string
	// bounds is true if the generator can make values lower bounds.
	bounds bool
}

var (
	throughputQuantity = quantity{
		title: "throughput.title", unit: "throughput.unit", point: "point.throughput", print: rate, bounds: true,
		summary: func(g stats.Group) *stats.Summary { return g.Throughput },
		value:   func(c stats.Cell) *float64 { return c.Throughput },
	}
	cpuQuantity = quantity{
		title: "cpu.title", unit: "cpu.unit", point: "point.cpu", print: micros,
		summary: func(g stats.Group) *stats.Summary { return g.CPUPerRequest },
		value:   func(c stats.Cell) *float64 { return c.CPUPerRequest },
	}
)

// levelCharts show every quantity; none in a run of searches alone.
func (v *view) levelCharts() []chart {
	if len(v.t.Levels) == 0 {
		return nil
	}
	return []chart{v.levelChart(throughputQuantity), v.levelChart(cpuQuantity)}
}

// levelChart shows one quantity of all implementations at all levels.
func (v *view) levelChart(q quantity) chart {
	c := chart{Title: v.say(q.title), Unit: v.say(q.unit), Height: levelHeight, MinWidth: len(v.t.Levels) * len(v.t.Implementations) * slotWidth}
	largest := 0.0
	for _, g := range v.t.Groups {
		if s := q.summary(g); s != nil {
			largest = max(largest, s.Max)
		}
	}
	ticks := niceTicks(largest)
	y := span{low: 0, high: ticks[len(ticks)-1], from: levelBottom, to: levelTop}
	for _, t := range ticks {
		at := pixels(y.at(t))
		c.Plot = append(c.Plot, line("0%", at, "100%", at, "grid"))
		c.Axis = append(c.Axis, text("100%", pixels(y.at(t)+4), "end", "tick", axisNumber(t)))
	}
	for k, l := range v.t.Levels {
		center := (float64(k) + 0.5) * 100 / float64(len(v.t.Levels))
		c.Plot = append(c.Plot, text(percentage(center), pixels(levelBottom+18), "middle", "tick", v.tick(l.Point)))
		if v.manyLoads() {
			c.Plot = append(c.Plot, text(percentage(center), pixels(levelBottom+33), "middle", "tick faint", l.Load))
		}
	}
	if !v.manyLoads() {
		c.Plot = append(c.Plot, text("50%", pixels(levelBottom+35), "middle", "tick faint", v.say("axis.connections")))
	}
	for i, implementation := range v.t.Implementations {
		c.Plot = append(c.Plot, v.series(q, y, i, implementation)...)
	}
	return c
}

// tick is a level's label on the axis of connections.
func (v *view) tick(p record.Point) string {
	if p.RequestsPerSecond > 0 {
		return v.say("level.tick.rate", integer(int64(p.RequestsPerSecond)))
	}
	return integer(int64(p.Connections))
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

// series draws one implementation: at each level its blocks, their mean and its interval, and a faint line from mean to mean.
func (v *view) series(q quantity, y span, index int, implementation stats.Implementation) []mark {
	var out []mark
	look := v.looks[implementation.Name]
	width := 100 / float64(len(v.t.Levels))
	slot := width * (1 - 2*categoryPad) / float64(len(v.t.Implementations))
	lastX, lastY := "", ""
	for k, l := range v.t.Levels {
		g := v.t.Group(l.Point, implementation.Name)
		left := float64(k)*width + width*categoryPad + slot*float64(index)
		middle := left + slot/2
		s := q.summary(*g)
		if s == nil {
			lastX = ""
		} else {
			x, at := percentage(middle), pixels(y.at(s.Mean))
			if lastX != "" && v.t.Levels[k-1].Load == l.Load {
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

// shade draws the interval of a mean.
func shade(s stats.Summary, y span, left, width float64, look look) []mark {
	if s.Low == nil || s.High == nil {
		return nil
	}
	top, bottom := y.at(y.clip(*s.High)), y.at(y.clip(*s.Low))
	return []mark{{
		Kind: "band", X: percentage(left), Y: pixels(top), W: percentage(width), H: pixels(max(bottom-top, 0.5)), Class: "shade " + look.Class,
	}}
}

// points draw every block, in the order of the blocks.
func (v *view) points(q quantity, y span, g stats.Group, left, width float64, look look) []mark {
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
		case c.Validity == stats.Void:
			m.Kind, m.Class, m.Title = "cross", "void", v.say("point.void", m.Title)
		case q.bounds && c.ThroughputIsBound:
			m.Class, m.Title = "dotted hollow "+look.Class, v.say("point.bound", m.Title)
		}
		out = append(out, m)
	}
	return out
}
