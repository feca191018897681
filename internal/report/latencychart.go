package report

import (
	"math"
	"strings"

	"loadstone.dev/loadstone/internal/stats"
)

const (
	latencyHeight = 238
	latencyTop    = 10
	latencyBottom = 196
)

// percentileTicks label the axis of percentiles, which gives each further nine the same room.
var percentileTicks = []struct {
	q     float64
	label string
}{{0.5, "50"}, {0.9, "90"}, {0.99, "99"}, {0.999, "99.9"}, {0.9999, "99.99"}, {0.99999, "99.999"}}

// nines is 1 for the 90th percentile, 2 for the 99th and so on.
func nines(q float64) float64 { return -math.Log10(max(1-q, 1e-9)) }

// latencyCharts show the distributions of all implementations, one picture a level, all on one scale.
func (v *view) latencyCharts() []chart {
	y, reach, ok := v.latencySpan()
	if !ok {
		return nil
	}
	x := span{low: 0, high: reach, from: 1, to: 99}
	var out []chart
	for _, l := range v.t.Levels {
		c := chart{Title: v.levelName(l.Load, l.Connections), Height: latencyHeight}
		for _, t := range decades(y) {
			at := pixels(y.at(t))
			c.Plot = append(c.Plot, line("0%", at, "100%", at, "grid"))
			c.Axis = append(c.Axis, text("100%", pixels(y.at(t)+4), "end", "tick", micros1(t)))
		}
		for _, t := range percentileTicks {
			if n := nines(t.q); n <= reach {
				at := percentage(x.at(n))
				c.Plot = append(c.Plot, line(at, pixels(latencyBottom), at, pixels(latencyBottom+4), "axis"))
				c.Plot = append(c.Plot, text(at, pixels(latencyBottom+18), anchorAt(x.at(n)), "tick", t.label))
			}
		}
		c.Plot = append(c.Plot, text("50%", pixels(latencyBottom+33), "middle", "tick faint", v.say("axis.percentile")))
		for _, i := range v.t.Implementations {
			g := v.t.Group(l.Point, i.Name)
			if len(g.Latency) > 0 {
				c.Plot = append(c.Plot, v.curve(*g, x, y)...)
			}
		}
		out = append(out, c)
	}
	return out
}

// anchorAt keeps labels at the edges inside the picture.
func anchorAt(x float64) string {
	switch {
	case x < 5:
		return "start"
	case x > 95:
		return "end"
	}
	return "middle"
}

// micros1 prints a round tick without decimals.
func micros1(v float64) string {
	s := scale(v, microsScales)
	return integer(int64(math.Round(v/s.factor))) + " " + s.unit
}

// latencySpan is the scale that holds all curves, and how many nines they reach.
func (v *view) latencySpan() (y span, reach float64, ok bool) {
	y = span{low: math.Inf(1), from: latencyBottom, to: latencyTop, log: true}
	for _, g := range v.t.Groups {
		if len(g.Latency) == 0 {
			continue
		}
		for _, p := range g.Latency[0].Curve {
			value := max(float64(*p.Micros), 1)
			y.low, y.high = min(y.low, value), max(y.high, value)
			reach = max(reach, nines(p.Q))
		}
	}
	y.low, y.high = y.low*0.85, y.high*1.15
	return y, reach, reach > 0 && y.high > y.low
}

// curve draws the first kind of latency of a group, with a mark at the percentiles of the axis.
func (v *view) curve(g stats.Group, x, y span) []mark {
	look := v.looks[g.Implementation]
	var points []string
	for _, p := range g.Latency[0].Curve {
		// The curve lies in a square of 1,000 by 1,000 that is stretched over the picture.
		px := x.at(nines(p.Q)) * 10
		py := y.at(max(float64(*p.Micros), 1)) / latencyHeight * 1000
		points = append(points, pixels(px)+","+pixels(py))
	}
	out := []mark{{Kind: "curve", Points: strings.Join(points, " "), Class: "curve " + look.Class}}
	for _, q := range g.Latency[0].Quantiles {
		if q.Micros == nil {
			continue
		}
		out = append(out, mark{
			Kind: look.Shape, X: percentage(x.at(nines(q.Q))), Y: pixels(y.at(max(float64(*q.Micros), 1))), Class: "point " + look.Class,
			Title: g.Implementation + ", " + v.say("th.p", percentile(q.Q)) + ": " + micros(float64(*q.Micros)),
		})
	}
	return out
}
