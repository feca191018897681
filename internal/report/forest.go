package report

import (
	"slices"

	"loadstone.dev/loadstone/internal/verdict"
)

// forest is the picture of all effects: what each contender changes against the baseline.
type forest struct {
	Title, Lead string
	Margin      string
	Groups      []forestGroup
}

// forestGroup is one contender.
type forestGroup struct {
	Name   string
	Look   look
	Panels []forestPanel
}

// forestPanel is one metric of a contender, with an axis of its own: more is better of some metrics, and less of others.
type forestPanel struct {
	Metric, Better string
	Axis           []mark
	Rows           []forestRow
}

// forestRow is one effect: over the levels of a load, or at one of them.
type forestRow struct {
	Label   string
	Overall bool
	Strip   []mark
	Height  int
	// Name is the row in words.
	Name string
	// Tone is faster, slower, same or unknown; it colours the verdict.
	Tone                           string
	Effect, Interval, Verdict, Why string
}

// effect is one place at which a contender is compared, with a result for each metric. Verdict and reason are those of the place, which
// stand at the metric that decides there.
type effect struct {
	label   string
	overall bool
	results []verdict.Result
	verdict verdict.Verdict
	reason  verdict.Reason
}

// said is the verdict of a result and its reason: the place's where the result decides.
func (e effect) said(r verdict.Result) (verdict.Verdict, verdict.Reason) {
	if r.Decides {
		return e.verdict, e.reason
	}
	return r.Verdict, r.Reason
}

const (
	rowHeight = 38
	rowMiddle = rowHeight / 2
	axisLine  = 30
	// leastSpan keeps an axis from magnifying differences that are none.
	leastSpan = 1.06
	// widestRatio bounds an axis: what lies beyond is drawn at its end.
	widestRatio = 1000.0
)

// effects are the places of one comparison, in the order in which they are shown: the mean over a load's levels, then each level.
func (v *view) effects(c verdict.Comparison) []effect {
	var out []effect
	if len(c.Levels) != 1 && len(c.Overall) > 0 {
		e := effect{label: v.say("forest.loads"), overall: true, results: c.Overall, verdict: c.Verdict, reason: c.Reason}
		if c.Load != "" {
			e.label = v.say("forest.level", c.Load, v.say("forest.overall", v.count("levels", len(c.Levels))))
		}
		out = append(out, e)
	}
	for _, l := range c.Levels {
		out = append(out, effect{label: v.levelName(l.Point), results: l.Results, verdict: l.Verdict, reason: l.Reason})
	}
	return out
}

// allEffects are the places of all comparisons of a contender.
func (v *view) allEffects(implementation string) []effect {
	var out []effect
	for _, c := range v.t.Comparisons {
		if c.Implementation == implementation {
			out = append(out, v.effects(c)...)
		}
	}
	return out
}

// forest draws every comparison; nil if there is none.
func (v *view) forest() *forest {
	if len(v.t.Comparisons) == 0 {
		return nil
	}
	base := v.t.Run.Baseline
	f := &forest{
		Title: v.say("forest.title", base), Lead: v.say("forest.lead", base, v.confidence()),
		Margin: v.say("forest.same", plainPercent(v.t.Rules.EquivalenceMargin)),
	}
	for _, i := range v.t.Implementations {
		g := forestGroup{Name: i.Name, Look: v.looks[i.Name]}
		effects := v.allEffects(i.Name)
		for _, m := range v.comparedMetrics() {
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

// comparedMetrics are all metrics of the run's comparisons, those that decide in more places first.
func (v *view) comparedMetrics() []verdict.Metric {
	var metrics []verdict.Metric
	decides := map[verdict.Metric]int{}
	for _, c := range v.t.Comparisons {
		for _, e := range v.effects(c) {
			for _, r := range e.results {
				if !slices.Contains(metrics, r.Metric) {
					metrics = append(metrics, r.Metric)
				}
				if r.Decides {
					decides[r.Metric]++
				}
			}
		}
	}
	slices.SortStableFunc(metrics, func(a, b verdict.Metric) int { return decides[b] - decides[a] })
	return metrics
}

// forestPanel draws one metric of a contender; nil if nowhere both sides have it.
func (v *view) forestPanel(m verdict.Metric, base string, effects []effect) *forestPanel {
	x, ticks := v.forestAxis(m, effects)
	side, left, right := "forest.more", "forest.worse.left", "forest.better.right"
	leftTone, rightTone := "slower", "faster"
	if !m.MoreIsBetter() {
		side, left, right = "forest.less", "forest.better.left", "forest.worse.right"
		leftTone, rightTone = rightTone, leftTone
	}
	p := &forestPanel{Metric: capital(v.metric(m)), Better: v.say(side, base)}
	p.Axis = append(p.Axis,
		text(percentage(x.at(1)-1.2), "11", "end", "side "+leftTone, v.say(left)),
		text(percentage(x.at(1)+1.2), "11", "start", "side "+rightTone, v.say(right)),
	)
	for _, t := range ticks {
		p.Axis = append(p.Axis, text(percentage(x.at(t)), pixels(axisLine), "middle", "tick", tickChange(t)))
	}
	known := false
	for _, e := range effects {
		for _, r := range e.results {
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

// forestAxis is the axis of a metric of a contender: it holds all means, all points and the intervals that have a verdict to support.
func (v *view) forestAxis(m verdict.Metric, effects []effect) (span, []float64) {
	low, high := 1/leastSpan, leastSpan
	for _, e := range effects {
		for _, r := range e.results {
			if r.Metric == m {
				from, to := v.reach(r)
				low, high = min(low, from), max(high, to)
			}
		}
	}
	ticks := ratioTicks(max(low, 1/widestRatio), min(high, widestRatio))
	return span{low: ticks[0], high: ticks[len(ticks)-1], from: 5, to: 95, log: true}, ticks
}

// reach is how far a result's marks reach; 1 to 1 if it has none.
func (v *view) reach(r verdict.Result) (low, high float64) {
	low, high = 1, 1
	hold := func(ratio float64) { low, high = min(low, ratio), max(high, ratio) }
	if r.Ratio != nil {
		hold(*r.Ratio)
	}
	for _, p := range r.Pairs {
		hold(p.Ratio)
	}
	if r.Low != nil && r.High != nil && r.FewestPairs >= v.t.Rules.MinBlocks {
		hold(*r.Low)
		hold(*r.High)
	}
	return low, high
}

// forestRow draws one result.
func (v *view) forestRow(x span, ticks []float64, e effect, r verdict.Result) forestRow {
	outcome, reason := e.said(r)
	verdict, why := v.rowVerdict(r, outcome, reason)
	row := forestRow{
		Label: e.label, Overall: e.overall, Height: rowHeight, Tone: tones[outcome],
		Effect: v.changeOf(r), Interval: v.effectInterval(r), Verdict: verdict, Why: why,
	}
	row.Name = join(", ", e.label, v.metric(r.Metric), row.Effect, row.Interval, verdict)
	margin := 1 + v.t.Rules.EquivalenceMargin
	left, right := x.at(x.clip(1/margin)), x.at(x.clip(margin))
	whole := pixels(rowHeight)
	row.Strip = append(row.Strip, mark{Kind: "band", X: percentage(left), Y: "0", W: percentage(right - left), H: whole, Class: "margin"})
	for _, t := range ticks {
		row.Strip = append(row.Strip, line(percentage(x.at(t)), "0", percentage(x.at(t)), whole, "grid"))
	}
	row.Strip = append(row.Strip, line(percentage(x.at(1)), "0", percentage(x.at(1)), whole, "one"))
	row.Strip = append(row.Strip, v.forestMarks(x, r, tones[outcome])...)
	return row
}

// effectInterval prints the interval of a result from as many blocks on as a verdict needs.
func (v *view) effectInterval(r verdict.Result) string {
	if _, _, ok := ends(r); !ok || r.FewestPairs < v.t.Rules.MinBlocks {
		return ""
	}
	return v.changeLimits(r)
}

// forestMarks draw the blocks, the interval and the mean of a result. Its colour is its verdict.
func (v *view) forestMarks(x span, r verdict.Result, tone string) []mark {
	var out []mark
	at, kind := pixels(rowMiddle), "beside "
	if r.Decides {
		kind = "decides "
	}
	kind += "t-" + tone
	if low, high, ok := ends(r); ok && r.FewestPairs >= v.t.Rules.MinBlocks {
		out = append(out, line(percentage(x.at(x.clip(low))), at, percentage(x.at(x.clip(high))), at, "interval "+kind))
	}
	for _, p := range r.Pairs {
		out = append(out, mark{
			Kind: "dot", X: percentage(x.at(x.clip(p.Ratio))), Y: at, Class: "pair " + kind,
			Title: v.say("forest.pair", integer(int64(p.Block)), change(p.Ratio)),
		})
	}
	if r.Ratio != nil {
		out = append(out, mark{Kind: "diamond", X: percentage(x.at(x.clip(*r.Ratio))), Y: at, Class: "estimate " + kind})
	}
	return out
}

var tones = map[verdict.Verdict]string{verdict.Better: "faster", verdict.Worse: "slower", verdict.NoDifference: "same", verdict.DependsOnLoad: "unknown", verdict.Inconclusive: "unknown"}

// rowVerdict puts a verdict into a word or two, and the reason for none into a few more. The effect itself stands beside it.
func (v *view) rowVerdict(r verdict.Result, said verdict.Verdict, reason verdict.Reason) (words, why string) {
	words = v.say("verdict." + string(said))
	switch {
	case reason == "":
	case reason == verdict.TooFewBlocks && r.Blocks == 0:
		why = v.say("reason.nopair")
	case reason == verdict.TooFewBlocks:
		why = v.say("reason.TooFewBlocks", v.count("blocks", r.FewestPairs), integer(int64(v.t.Rules.MinBlocks)))
	default:
		why = v.say("reason." + string(reason))
	}
	return words, why
}
