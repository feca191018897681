package levels

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
)

const (
	laneHeight = 92
	laneTop    = 24
	laneBottom = 84
	overFoot   = 38
	overTicks  = 5
)

// overTimeCharts has a picture per level and a lane per implementation, all on one scale. A lane shows the mean over
// the blocks, the range of blocks, and the largest dip.
func (v levels) overTimeCharts() []chart.Chart {
	low, high, seconds := 1.0, 1.0, 0.0
	for _, g := range v.Table.Groups {
		if o := g.OverTime; o != nil && v.Looks[g.Implementation].Class != chart.ReferenceClass {
			for k := range o.Relative {
				low, high = min(low, o.Least[k]), max(high, o.Most[k])
			}
			seconds = max(seconds, at(*o, len(o.Relative)))
		}
	}
	if seconds == 0 {
		return nil
	}
	ticks := chart.ShareTicks(low, high)
	y := chart.Span{Low: ticks[0], High: ticks[len(ticks)-1], From: laneBottom, To: laneTop}
	x := chart.Span{Low: 0, High: seconds, From: 1, To: 99}
	var out []chart.Chart
	for _, l := range v.Table.Levels {
		if c := v.timeChart(l, x, y, ticks); c.Height > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (v levels) timeChart(l planned.Level, x, y chart.Span, ticks []float64) chart.Chart {
	c := chart.Chart{Title: v.LevelName(l.Point), Unit: v.Say("over.unit"), Name: v.Say("over.name", v.LevelName(l.Point))}
	var lanes []planned.Implementation
	for _, i := range v.Drawn() {
		if v.Table.Group(l.Point, i.Name).OverTime != nil {
			lanes = append(lanes, i)
		}
	}
	if len(lanes) == 0 {
		return c
	}
	c.Height = len(lanes)*laneHeight + overFoot
	for k, i := range lanes {
		top := float64(k * laneHeight)
		c.Grid(y.Moved(top), ticks, format.TickChange)
		c.Plot = append(c.Plot, v.lane(i.Name, *v.Table.Group(l.Point, i.Name), top, float64(c.Height), x, y)...)
	}
	foot := float64(len(lanes) * laneHeight)
	for _, t := range chart.NiceTicks(x.High * 4 / overTicks) {
		if t <= x.High {
			c.Plot = append(c.Plot, chart.Text(chart.Percentage(x.At(t)), chart.Pixels(foot+14), chart.AnchorAt(x.At(t)), "tick", format.Plain(t)))
		}
	}
	c.Plot = append(c.Plot, chart.Text("50%", chart.Pixels(foot+30), "middle", "tick faint", v.Say("over.axis")))
	return c
}

func at(o measured.OverTime, interval int) float64 {
	return float64(interval+1) * float64(o.EveryMillis) / 1e3
}

func (v levels) lane(name string, g validity.Group, top, height float64, x, y chart.Span) []chart.Mark {
	o, look := *g.OverTime, v.Looks[name]
	place := func(k int, share float64) string {
		middle := (at(o, k) + at(o, k+1)) / 2
		return chart.Thousandth(x.At(middle)/100) + "," + chart.Thousandth((top+y.At(share))/height)
	}
	var mean, spread []string
	for k, r := range o.Relative {
		mean, spread = append(mean, place(k, r)), append(spread, place(k, o.Most[k]))
	}
	for k := len(o.Least) - 1; k >= 0; k-- {
		spread = append(spread, place(k, o.Least[k]))
	}
	out := []chart.Mark{
		{Kind: "area", Points: strings.Join(spread, " "), Class: "area " + look.Class},
		{Kind: "curve", Points: strings.Join(mean, " "), Class: "curve thin " + look.Class},
	}
	label := name
	if g.Throughput != nil {
		label = v.Say("over.lane", name, format.Rate(g.Throughput.Mean))
	}
	out = append(out, chart.Text("1%", chart.Pixels(top+laneTop-10), "start", "tick lane", label))
	if o.LargestDip <= 0 {
		return out
	}
	middle := x.At(float64(o.DipMillis)/1e3 + float64(o.EveryMillis)/2e3)
	bottom := top + y.At(y.Clip(1-o.LargestDip))
	label, anchor := v.Say("over.mark", format.Change(1-o.LargestDip), format.Integer(o.DipBlock)), "start"
	if middle > 50 {
		anchor = "end"
	}
	return append(out,
		chart.Mark{Kind: "ring", X: chart.Percentage(middle), Y: chart.Pixels(bottom), Class: "dip"},
		chart.Text(chart.Percentage(middle), chart.Pixels(bottom+4), anchor, "value", "\u2003"+label+"\u2003"),
	)
}

// dips says where each implementation's largest dip lies, for reading tails.
func (v levels) dips() []string {
	var out []string
	for _, i := range v.Table.Implementations {
		var worst *validity.Group
		for k := range v.Table.Groups {
			g := &v.Table.Groups[k]
			if g.Implementation == i.Name && g.OverTime != nil && (worst == nil || g.OverTime.LargestDip > worst.OverTime.LargestDip) {
				worst = g
			}
		}
		if worst == nil {
			continue
		}
		o := worst.OverTime
		when := format.Micros(float64(o.DipMillis) * 1e3)
		words := v.Say("over.dip", i.Name, format.Percent(o.LargestDip), v.LevelName(worst.Point), when, format.Integer(o.DipBlock))
		if o.ByCPU {
			words += " (" + v.Say("over.cpu") + ")"
		}
		out = append(out, words)
	}
	return out
}
