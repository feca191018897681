package report

import (
	"math"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/measured"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/validity"
)

const (
	// laneHeight is that of one implementation, in which it has laneTop to laneBottom for itself.
	laneHeight = 92
	laneTop    = 24
	laneBottom = 84
	overFoot   = 38
	// overTicks is about how many instants the axis of time names.
	overTicks = 5
)

// overTimeCharts show throughput over time: one picture a level, in it one lane an implementation, all on one scale. A lane has the
// mean over the blocks within the spread from the slowest block to the fastest, and a mark at the largest dip of any.
func (v *view) overTimeCharts() []chart {
	low, high, seconds := 1.0, 1.0, 0.0
	for _, g := range v.t.Groups {
		if o := g.OverTime; o != nil && v.looks[g.Implementation].Class != limitClass {
			for k := range o.Relative {
				low, high = min(low, o.Least[k]), max(high, o.Most[k])
			}
			seconds = max(seconds, at(*o, len(o.Relative)))
		}
	}
	if seconds == 0 {
		return nil
	}
	ticks := shareTicks(low, high)
	y := span{low: ticks[0], high: ticks[len(ticks)-1], from: laneBottom, to: laneTop}
	x := span{low: 0, high: seconds, from: 1, to: 99}
	var out []chart
	for _, l := range v.t.Levels {
		if c := v.timeChart(l, x, y, ticks); c.Height > 0 {
			out = append(out, c)
		}
	}
	return out
}

// timeChart draws the lanes of a level.
func (v *view) timeChart(l planned.Level, x, y span, ticks []float64) chart {
	c := chart{Title: v.levelName(l.Point), Unit: v.say("over.unit"), Name: v.say("over.name", v.levelName(l.Point))}
	var lanes []planned.Implementation
	for _, i := range v.drawn() {
		if v.t.Group(l.Point, i.Name).OverTime != nil {
			lanes = append(lanes, i)
		}
	}
	if len(lanes) == 0 {
		return c
	}
	c.Height = len(lanes)*laneHeight + overFoot
	for k, i := range lanes {
		top := float64(k * laneHeight)
		for _, t := range ticks {
			place := pixels(top + y.at(t))
			c.Plot = append(c.Plot, line("0%", place, "100%", place, "grid"))
			c.Axis = append(c.Axis, text("100%", pixels(top+y.at(t)+4), "end", "tick", tickChange(t)))
		}
		c.Plot = append(c.Plot, v.lane(i.Name, *v.t.Group(l.Point, i.Name), top, float64(c.Height), x, y)...)
	}
	foot := float64(len(lanes) * laneHeight)
	for _, t := range niceTicks(x.high * 4 / overTicks) {
		if t <= x.high {
			c.Plot = append(c.Plot, text(percentage(x.at(t)), pixels(foot+14), anchorAt(x.at(t)), "tick", plainNumber(t)))
		}
	}
	c.Plot = append(c.Plot, text("50%", pixels(foot+30), "middle", "tick faint", v.say("over.axis")))
	return c
}

// at is where an interval begins, in seconds from the beginning of the measured time: the first interval of a cell is left out.
func at(o measured.OverTime, interval int) float64 {
	return float64(interval+1) * float64(o.EveryMillis) / 1e3
}

// thousandth places a share in a square of 1,000 by 1,000 that is stretched over a picture.
func thousandth(share float64) string { return strconv.FormatFloat(math.Round(share*1e3), 'f', 0, 64) }

// lane draws one implementation.
func (v *view) lane(name string, g validity.Group, top, height float64, x, y span) []mark {
	o, look := *g.OverTime, v.looks[name]
	place := func(k int, share float64) string {
		middle := (at(o, k) + at(o, k+1)) / 2
		return thousandth(x.at(middle)/100) + "," + thousandth((top+y.at(share))/height)
	}
	var mean, spread []string
	for k, r := range o.Relative {
		mean, spread = append(mean, place(k, r)), append(spread, place(k, o.Most[k]))
	}
	for k := len(o.Least) - 1; k >= 0; k-- {
		spread = append(spread, place(k, o.Least[k]))
	}
	out := []mark{
		{Kind: "area", Points: strings.Join(spread, " "), Class: "area " + look.Class},
		{Kind: "curve", Points: strings.Join(mean, " "), Class: "curve thin " + look.Class},
	}
	label := name
	if g.Throughput != nil {
		label = v.say("over.lane", name, rate(g.Throughput.Mean))
	}
	out = append(out, text("1%", pixels(top+laneTop-10), "start", "tick lane", label))
	if o.LargestDip <= 0 {
		return out
	}
	middle := x.at(float64(o.DipMillis)/1e3 + float64(o.EveryMillis)/2e3)
	bottom := top + y.at(y.clip(1-o.LargestDip))
	label, anchor := v.say("over.mark", change(1-o.LargestDip), integer(int64(o.DipBlock))), "start"
	if middle > 50 {
		anchor = "end"
	}
	return append(out,
		mark{Kind: "ring", X: percentage(middle), Y: pixels(bottom), Class: "dip"},
		text(percentage(middle), pixels(bottom+4), anchor, "value", "\u2003"+label+"\u2003"),
	)
}

// dips says where the largest dip of each implementation lies: a tail is read beside it.
func (v *view) dips() []string {
	var out []string
	for _, i := range v.t.Implementations {
		var worst *validity.Group
		for k := range v.t.Groups {
			g := &v.t.Groups[k]
			if g.Implementation == i.Name && g.OverTime != nil && (worst == nil || g.OverTime.LargestDip > worst.OverTime.LargestDip) {
				worst = g
			}
		}
		if worst == nil {
			continue
		}
		o := worst.OverTime
		words := v.say("over.dip", i.Name, percent(o.LargestDip), v.levelName(worst.Point), micros(float64(o.DipMillis)*1e3), integer(int64(o.DipBlock)))
		if o.ByCPU {
			words += " (" + v.say("over.cpu") + ")"
		}
		out = append(out, words)
	}
	return out
}
