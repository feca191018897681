package report

import (
	"strings"

	"loadstone.dev/loadstone/internal/stats"
)

const (
	overHeight = 150
	overTop    = 8
	overBottom = 110
	// overTicks is about how many instants the axis of time names.
	overTicks = 5
)

// overTimeCharts show throughput over time, one picture a level, all on one scale.
func (v *view) overTimeCharts() []chart {
	largest, seconds := 0.0, 0.0
	for _, g := range v.t.Groups {
		if g.OverTime == nil {
			continue
		}
		for _, r := range g.OverTime.Relative {
			largest = max(largest, r)
		}
		seconds = max(seconds, at(*g.OverTime, len(g.OverTime.Relative)))
	}
	if largest == 0 {
		return nil
	}
	ticks := niceTicks(largest)
	y := span{low: 0, high: max(ticks[len(ticks)-1], 1), from: overBottom, to: overTop}
	x := span{low: 0, high: seconds, from: 1, to: 99}
	var out []chart
	for _, l := range v.t.Levels {
		c := chart{Title: v.levelName(l.Point), Unit: v.say("over.unit"), Height: overHeight}
		for _, t := range ticks {
			place := pixels(y.at(t))
			c.Plot = append(c.Plot, line("0%", place, "100%", place, "grid"))
			c.Axis = append(c.Axis, text("100%", pixels(y.at(t)+4), "end", "tick", plainNumber(t)))
		}
		for _, t := range niceTicks(seconds * 4 / overTicks) {
			if t <= seconds {
				c.Plot = append(c.Plot, text(percentage(x.at(t)), pixels(overBottom+18), anchorAt(x.at(t)), "tick", plainNumber(t)))
			}
		}
		c.Plot = append(c.Plot, text("50%", pixels(overBottom+33), "middle", "tick faint", v.say("over.axis")))
		for _, i := range v.t.Implementations {
			if o := v.t.Group(l.Point, i.Name).OverTime; o != nil {
				c.Plot = append(c.Plot, v.timeCurve(i.Name, *o, x, y)...)
			}
		}
		out = append(out, c)
	}
	return out
}

// at is where an interval begins, in seconds from the beginning of the measured time: the first interval of a cell is left out.
func at(o stats.OverTime, interval int) float64 {
	return float64(interval+1) * float64(o.EveryMillis) / 1e3
}

func (v *view) timeCurve(name string, o stats.OverTime, x, y span) []mark {
	look := v.looks[name]
	var points []string
	for k, r := range o.Relative {
		middle := (at(o, k) + at(o, k+1)) / 2
		points = append(points, pixels(x.at(middle)*10)+","+pixels(y.at(r)/overHeight*1000))
	}
	return []mark{{Kind: "curve", Points: strings.Join(points, " "), Class: "curve thin " + look.Class}}
}

// dips says where the largest dip of each implementation lies: a tail is read beside it.
func (v *view) dips() []string {
	var out []string
	for _, i := range v.t.Implementations {
		var worst *stats.Group
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
		words := v.say("over.dip", i.Name, percent(o.LargestDip), micros(float64(o.DipMillis)*1e3), integer(int64(o.DipBlock)), v.levelName(worst.Point))
		if o.ByCPU {
			words += " (" + v.say("over.cpu") + ")"
		}
		out = append(out, words)
	}
	return out
}
