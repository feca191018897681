package levels

import (
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
)

const (
	latencyHeight = 290
	latencyTop    = 16
	latencyBottom = 248
)

// percentileTicks give each further nine the same room.
var percentileTicks = []struct {
	q     float64
	label string
}{{0.5, "50"}, {0.9, "90"}, {0.99, "99"}, {0.999, "99.9"}, {0.9999, "99.99"}, {0.99999, "99.999"}}

// labelled percentiles have their values at the curves.
var labelled = []float64{0.5, 0.9, 0.99, 0.999}

func nines(q float64) float64 { return -math.Log10(max(1-q, 1e-9)) }

type distribution struct {
	name string
	measured.Distribution
	points []measured.Quantile
}

// latencyCharts has one picture per level, each with its own scale.
func (v levels) latencyCharts() []chart.Chart {
	var out []chart.Chart
	for _, l := range v.Table.Levels {
		if c, ok := v.latencyChart(l); ok {
			out = append(out, c)
		}
	}
	return out
}

// latencyChart takes its scale from the contenders.
func (v levels) latencyChart(l planned.Level) (chart.Chart, bool) {
	kind := v.chartKind(l)
	drawn := v.distributions(l, kind, v.Drawn())
	y, ticks, reach := latencyAxis(drawn)
	if reach == 0 {
		return chart.Chart{}, false
	}
	c := chart.Chart{
		Title: v.LevelName(l.Point), Unit: v.Say("latency.kind." + string(kind)), Height: latencyHeight,
		Name: v.Say("latency.name", v.LevelName(l.Point)),
	}
	x := chart.Span{Low: 0, High: reach, From: 1, To: 97}
	c.Grid(y, ticks, format.TickMicros)
	for _, t := range percentileTicks {
		if n := nines(t.q); n <= reach {
			at := chart.Percentage(x.At(n))
			c.Plot = append(c.Plot, chart.Line(at, chart.Pixels(latencyTop), at, chart.Pixels(latencyBottom+4), "grid"))
			c.Plot = append(c.Plot, chart.Text(at, chart.Pixels(latencyBottom+18), chart.AnchorAt(x.At(n)), "tick", t.label))
		}
	}
	c.Plot = append(c.Plot, chart.Text("50%", chart.Pixels(latencyHeight-6), "middle", "tick faint", v.Say("axis.percentile")))
	for _, d := range v.distributions(l, kind, v.ReferencesDrawn()) {
		c.Plot = append(c.Plot, v.referenceCurve(d, x, y)...)
	}
	for _, d := range drawn {
		c.Plot = append(c.Plot, v.curve(d, x, y)...)
	}
	c.Plot = append(c.Plot, v.curveLabels(drawn, x, y)...)
	return c, true
}

func (v levels) distributions(l planned.Level, kind record.LatencyKind, of []planned.Implementation) []distribution {
	var out []distribution
	for _, i := range of {
		if d := ofKind(*v.Table.Group(l.Point, i.Name), kind); d != nil && len(d.Curve) > 0 {
			out = append(out, distribution{name: i.Name, Distribution: *d, points: untilFlat(d.Curve)})
		}
	}
	return out
}

// untilFlat cuts the flat end, where a few samples in one bucket span many percentiles.
func untilFlat(curve []measured.Quantile) []measured.Quantile {
	end := len(curve)
	for end > 1 && *curve[end-1].Micros == *curve[end-2].Micros {
		end--
	}
	return curve[:end]
}

func latencyAxis(drawn []distribution) (y chart.Span, ticks []float64, reach float64) {
	low, high := math.Inf(1), 0.0
	for _, d := range drawn {
		for _, p := range d.points {
			low, high = min(low, lowEnd(p)), max(high, highEnd(p))
			reach = max(reach, nines(p.Q))
		}
	}
	if reach == 0 {
		return y, nil, 0
	}
	ticks = chart.ValueTicks(low, max(high, low*1.01), latencyBottom-latencyTop)
	return chart.Span{Low: ticks[0], High: ticks[len(ticks)-1], From: latencyBottom, To: latencyTop, Log: true}, ticks, reach
}

// shownKinds are in order of preference, as for compared percentiles.
var shownKinds = []record.LatencyKind{record.FromIntended, record.Observed, record.WithConnection, record.Corrected}

func (v levels) chartKind(l planned.Level) record.LatencyKind {
	for _, kind := range shownKinds {
		for _, i := range v.Table.Implementations {
			if ofKind(*v.Table.Group(l.Point, i.Name), kind) != nil {
				return kind
			}
		}
	}
	return ""
}

func ofKind(g validity.Group, kind record.LatencyKind) *measured.Distribution {
	i := slices.IndexFunc(g.Latency, func(d measured.Distribution) bool { return d.Kind == kind })
	if i < 0 {
		return nil
	}
	return &g.Latency[i]
}

func lowEnd(q measured.Quantile) float64 {
	if q.LowMicros != nil {
		return max(float64(*q.LowMicros), 1)
	}
	return highEnd(q)
}

func highEnd(q measured.Quantile) float64 { return max(float64(*q.Micros), 1) }

func (v levels) latencyLead() string {
	var kinds []string
	for _, g := range v.Table.Groups {
		for _, d := range g.Latency {
			words := v.Say("latency.kind", v.Say("latency.kind."+string(d.Kind)), v.Say("latency."+string(d.Kind)))
			if !slices.Contains(kinds, words) {
				kinds = append(kinds, words)
			}
		}
	}
	if len(kinds) == 0 {
		return v.Say("latency.none")
	}
	return v.Say("latency.lead", strings.Join(kinds, "; "))
}

func polyline(points []measured.Quantile, end func(measured.Quantile) float64, x, y chart.Span, class string) chart.Mark {
	var out []string
	for _, p := range points {
		if y.Holds(end(p)) {
			// The curve lies in a 1,000 by 1,000 square that is stretched over the picture.
			out = append(out, chart.Thousandth(x.At(nines(p.Q))/100)+","+chart.Thousandth(y.At(end(p))/latencyHeight))
		}
	}
	return chart.Mark{Kind: "curve", Points: strings.Join(out, " "), Class: class}
}

// curve draws a distribution, with marks at the table's percentiles. One known by brackets has a second, dashed line
// at its lower ends.
func (v levels) curve(d distribution, x, y chart.Span) []chart.Mark {
	look := v.Looks[d.name]
	out := []chart.Mark{polyline(d.points, highEnd, x, y, "curve "+look.Class)}
	if d.MeanLowMicros != nil {
		out = append(out, polyline(d.points, lowEnd, x, y, "curve low "+look.Class))
	}
	for _, q := range d.Quantiles {
		if !slices.Contains(labelled, q.Q) || q.Micros == nil || nines(q.Q) > x.High || !y.Holds(highEnd(q)) {
			continue
		}
		out = append(out, chart.Mark{
			Kind: look.Shape, X: chart.Percentage(x.At(nines(q.Q))), Y: chart.Pixels(y.At(highEnd(q))), Class: "point " + look.Class,
			Title: d.name + ", " + v.Say("th.p", percentile(q.Q)) + ": " + v.quantile(q),
		})
	}
	return out
}

func (v levels) referenceCurve(d distribution, x, y chart.Span) []chart.Mark {
	k := slices.IndexFunc(d.points, func(p measured.Quantile) bool { return y.Holds(highEnd(p)) })
	if k < 0 {
		label := v.Say("reference.beyond", d.name)
		return []chart.Mark{
			{Kind: "down", X: "97%", Y: chart.Pixels(latencyBottom - 6), Class: "arrow"},
			chart.Text("96%", chart.Pixels(latencyBottom-4), "end", "tick reference", label),
		}
	}
	return []chart.Mark{polyline(d.points, highEnd, x, y, "curve "+chart.ReferenceClass)}
}

// curveLabel prints a value left or right of its place: a rising curve has room above it on the left, and below it on
// the right. At the edges it stays inside.
func (v levels) curveLabel(q measured.Quantile, x chart.Span, y, anchor string) chart.Mark {
	at := x.At(nines(q.Q))
	switch {
	case at < 22 && anchor == "end":
		anchor, at = "middle", max(at, 9)
	case at > 78:
		anchor = "end"
	}
	return chart.Text(chart.Percentage(at), y, anchor, "value", v.quantile(q))
}

func (v levels) curveLabels(drawn []distribution, x, y chart.Span) []chart.Mark {
	var out []chart.Mark
	for _, q := range labelled {
		var low, high *measured.Quantile
		for _, d := range drawn {
			k := slices.IndexFunc(d.Quantiles, func(o measured.Quantile) bool { return o.Q == q && o.Micros != nil })
			if k < 0 || nines(q) > x.High {
				continue
			}
			o := &d.Quantiles[k]
			if o.LowMicros != nil && q == 0.9 {
				// An interval is too long for this place.
				continue
			}
			if low == nil || *o.Micros < *low.Micros {
				low = o
			}
			if high == nil || *o.Micros > *high.Micros {
				high = o
			}
		}
		if high == nil {
			continue
		}
		out = append(out, v.curveLabel(*high, x, chart.Pixels(y.At(highEnd(*high))-8), "end"))
		if low != high {
			out = append(out, v.curveLabel(*low, x, chart.Pixels(y.At(highEnd(*low))+17), "start"))
		}
	}
	return out
}
