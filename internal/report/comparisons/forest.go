package comparisons

import (
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

type forest struct {
	Lead   string
	Margin string
	Groups []forestGroup
}

type forestGroup struct {
	Name   string
	Look   chart.Look
	Panels []forestPanel
}

// forestPanel is one metric of a contender, with its own axis: for some metrics more is better, for others less.
type forestPanel struct {
	Metric, Better string
	Axis           []chart.Mark
	Rows           []forestRow
}

type forestRow struct {
	Label   string
	Overall bool
	Strip   []chart.Mark
	Height  int
	Name    string
	// Tone is faster, slower, same or unknown; it colours the verdict.
	Tone                           string
	Effect, Interval, Verdict, Why string
}

const (
	rowHeight = 38
	rowMiddle = rowHeight / 2
	axisLine  = 30
	// leastSpan keeps an axis from magnifying noise.
	leastSpan = 1.06
	// widestRatio bounds an axis; larger values are drawn at its end.
	widestRatio = 1000.0
)

func (v comparisons) forest() *forest {
	if len(v.Table.Comparisons) == 0 {
		return nil
	}
	base := v.Table.Run.Baseline
	f := &forest{
		Lead:   v.Say("forest.lead", base, v.Confidence()),
		Margin: v.Say("forest.same", format.PlainPercent(v.Table.Rules.EquivalenceMargin)),
	}
	for _, i := range v.Table.Implementations {
		g := forestGroup{Name: i.Name, Look: v.Looks[i.Name]}
		effects := v.AllEffects(i.Name)
		for _, m := range v.ComparedMetrics() {
			if p := v.forestPanel(m, base, effects); p != nil {
				g.Panels = append(g.Panels, *p)
			}
		}
		if len(g.Panels) > 0 {
			f.Groups = append(f.Groups, g)
		}
	}
	return f
}

// forestPanel returns nil if both sides have the metric nowhere.
func (v comparisons) forestPanel(m verdict.Metric, base string, effects []view.Effect) *forestPanel {
	x, ticks := v.forestAxis(m, effects)
	side, left, right := "forest.more", "forest.worse.left", "forest.better.right"
	leftTone, rightTone := "slower", "faster"
	if !m.MoreIsBetter() {
		side, left, right = "forest.less", "forest.better.left", "forest.worse.right"
		leftTone, rightTone = rightTone, leftTone
	}
	p := &forestPanel{Metric: format.Capital(v.Metric(m)), Better: v.Say(side, base)}
	p.Axis = append(p.Axis,
		chart.Text(chart.Percentage(x.At(1)-1.2), "11", "end", "side "+leftTone, v.Say(left)),
		chart.Text(chart.Percentage(x.At(1)+1.2), "11", "start", "side "+rightTone, v.Say(right)),
	)
	for _, t := range ticks {
		p.Axis = append(p.Axis, chart.Text(chart.Percentage(x.At(t)), chart.Pixels(axisLine), "middle", "tick", format.TickChange(t)))
	}
	known := false
	for _, e := range effects {
		for _, r := range e.Results {
			if r.Metric == m {
				known = known || r.Blocks > 0 || r.Decides
				p.Rows = append(p.Rows, v.forestRow(x, ticks, e, r))
			}
		}
	}
	if !known {
		return nil
	}
	return p
}

// forestAxis holds all means, points, and the intervals behind verdicts.
func (v comparisons) forestAxis(m verdict.Metric, effects []view.Effect) (chart.Span, []float64) {
	low, high := 1/leastSpan, leastSpan
	for _, e := range effects {
		for _, r := range e.Results {
			if r.Metric == m {
				from, to := v.reach(r)
				low, high = min(low, from), max(high, to)
			}
		}
	}
	ticks := chart.RatioTicks(max(low, 1/widestRatio), min(high, widestRatio))
	return chart.Span{Low: ticks[0], High: ticks[len(ticks)-1], From: 5, To: 95, Log: true}, ticks
}

func (v comparisons) reach(r verdict.Result) (low, high float64) {
	low, high = 1, 1
	hold := func(ratio float64) { low, high = min(low, ratio), max(high, ratio) }
	if r.Ratio != nil {
		hold(*r.Ratio)
	}
	for _, p := range r.Pairs {
		hold(p.Ratio)
	}
	if r.Low != nil && r.High != nil && r.FewestPairs >= v.Table.Rules.MinBlocks {
		hold(*r.Low)
		hold(*r.High)
	}
	return low, high
}

func (v comparisons) forestRow(x chart.Span, ticks []float64, e view.Effect, r verdict.Result) forestRow {
	outcome, reason := e.Said(r)
	verdict, why := v.RowVerdict(r, outcome, reason)
	row := forestRow{
		Label: e.Label, Overall: e.Overall, Height: rowHeight, Tone: view.Tone(outcome),
		Effect: v.ChangeOf(r), Interval: v.EffectInterval(r), Verdict: verdict, Why: why,
	}
	row.Name = format.Join(", ", e.Label, v.Metric(r.Metric), row.Effect, row.Interval, verdict)
	margin := 1 + v.Table.Rules.EquivalenceMargin
	left, right := x.At(x.Clip(1/margin)), x.At(x.Clip(margin))
	whole := chart.Pixels(rowHeight)
	row.Strip = append(row.Strip, chart.Mark{
		Kind: "band", X: chart.Percentage(left), Y: "0", W: chart.Percentage(right - left), H: whole, Class: "margin",
	})
	for _, t := range ticks {
		row.Strip = append(row.Strip, chart.Line(chart.Percentage(x.At(t)), "0", chart.Percentage(x.At(t)), whole, "grid"))
	}
	row.Strip = append(row.Strip, chart.Line(chart.Percentage(x.At(1)), "0", chart.Percentage(x.At(1)), whole, "one"))
	row.Strip = append(row.Strip, v.forestMarks(x, r, view.Tone(outcome))...)
	return row
}

// forestMarks draws blocks, interval and mean in the verdict's colour.
func (v comparisons) forestMarks(x chart.Span, r verdict.Result, tone string) []chart.Mark {
	var out []chart.Mark
	at, kind := chart.Pixels(rowMiddle), "beside "
	if r.Decides {
		kind = "decides "
	}
	kind += "t-" + tone
	if low, high, ok := phrase.Ends(r); ok && r.FewestPairs >= v.Table.Rules.MinBlocks {
		out = append(out, chart.Line(chart.Percentage(x.At(x.Clip(low))), at, chart.Percentage(x.At(x.Clip(high))), at, "interval "+kind))
	}
	for _, p := range r.Pairs {
		out = append(out, chart.Mark{
			Kind: "dot", X: chart.Percentage(x.At(x.Clip(p.Ratio))), Y: at, Class: "pair " + kind,
			Title: v.Say("forest.pair", format.Integer(p.Block), format.Change(p.Ratio)),
		})
	}
	if r.Ratio != nil {
		out = append(out, chart.Mark{Kind: "diamond", X: chart.Percentage(x.At(x.Clip(*r.Ratio))), Y: at, Class: "estimate " + kind})
	}
	return out
}
