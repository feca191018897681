package report

import (
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
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
		c := chart{Title: v.levelName(l.Point), Height: latencyHeight}
		kind := v.chartKind(l)
		if kind != "" {
			c.Unit = v.say("latency.kind." + string(kind))
		}
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
			if d := ofKind(*v.t.Group(l.Point, i.Name), kind); d != nil {
				c.Plot = append(c.Plot, v.curve(i.Name, *d, x, y)...)
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
	for _, l := range v.t.Levels {
		kind := v.chartKind(l)
		for _, i := range v.t.Implementations {
			d := ofKind(*v.t.Group(l.Point, i.Name), kind)
			if d == nil {
				continue
			}
			for _, p := range d.Curve {
				y.low, y.high = min(y.low, lowEnd(p)), max(y.high, highEnd(p))
				reach = max(reach, nines(p.Q))
			}
		}
	}
	y.low, y.high = y.low*0.85, y.high*1.15
	return y, reach, reach > 0 && y.high > y.low
}

// chartKind is the kind of latency that the picture of a level shows: of all its curves the same, and the first that any has.
func (v *view) chartKind(l stats.Level) record.LatencyKind {
	for _, i := range v.t.Implementations {
		if g := v.t.Group(l.Point, i.Name); len(g.Latency) > 0 {
			return g.Latency[0].Kind
		}
	}
	return ""
}

// ofKind is a group's distribution of a kind; nil if it has none.
func ofKind(g stats.Group, kind record.LatencyKind) *stats.Latency {
	i := slices.IndexFunc(g.Latency, func(d stats.Latency) bool { return d.Kind == kind })
	if i < 0 {
		return nil
	}
	return &g.Latency[i]
}

// lowEnd and highEnd are the ends of a quantile that is known, at least 1 µs.
func lowEnd(q stats.Quantile) float64 {
	if q.LowMicros != nil {
		return max(float64(*q.LowMicros), 1)
	}
	return highEnd(q)
}

func highEnd(q stats.Quantile) float64 { return max(float64(*q.Micros), 1) }

// latencyLead says of each kind of latency in the run what it is.
func (v *view) latencyLead() string {
	var kinds []string
	for _, g := range v.t.Groups {
		for _, d := range g.Latency {
			words := v.say("latency.kind", v.say("latency.kind."+string(d.Kind)), v.say("latency."+string(d.Kind)))
			if !slices.Contains(kinds, words) {
				kinds = append(kinds, words)
			}
		}
	}
	if len(kinds) == 0 {
		return v.say("latency.none")
	}
	return v.say("latency.lead", strings.Join(kinds, "; "))
}

// curve draws a distribution, with a mark at the percentiles of the axis. One that is known by brackets has a second line, dashed,
// at its lower ends.
func (v *view) curve(name string, d stats.Latency, x, y span) []mark {
	look := v.looks[name]
	line := func(class string, end func(stats.Quantile) float64) mark {
		var points []string
		for _, p := range d.Curve {
			// The curve lies in a square of 1,000 by 1,000 that is stretched over the picture.
			points = append(points, pixels(x.at(nines(p.Q))*10)+","+pixels(y.at(end(p))/latencyHeight*1000))
		}
		return mark{Kind: "curve", Points: strings.Join(points, " "), Class: class + look.Class}
	}
	out := []mark{line("curve ", highEnd)}
	if d.MeanLowMicros != nil {
		out = append(out, line("curve low ", lowEnd))
	}
	for _, q := range d.Quantiles {
		if q.Micros == nil {
			continue
		}
		out = append(out, mark{
			Kind: look.Shape, X: percentage(x.at(nines(q.Q))), Y: pixels(y.at(highEnd(q))), Class: "point " + look.Class,
			Title: name + ", " + v.say("th.p", percentile(q.Q)) + ": " + v.quantile(q),
		})
	}
	return out
}
