package report

import (
	"loadstone.dev/loadstone/internal/stats"
)

// forest is the picture of all ratios to the baseline.
type forest struct {
	Title, Lead string
	Margin      string
	Axis        []mark
	Groups      []forestGroup
}

// forestGroup is one contender.
type forestGroup struct {
	Name string
	Look look
	Rows []forestRow
}

// forestRow is one comparison: the mean over the levels, or one level.
type forestRow struct {
	Label   string
	Overall bool
	Strip   []mark
	Height  int
	// Tone is faster, slower, same or unknown; it colours the verdict.
	Tone    string
	Verdict string
	Why     string
	// Values are one line a metric, the deciding one first.
	Values []forestValue
}

type forestValue struct {
	Decides bool
	Text    string
}

const (
	rowHeight     = 56
	mainLine      = 20
	besideLine    = 39
	widestRatio   = 20.0
	narrowestSpan = 1.1
)

// forest draws every comparison; nil if there is none.
func (v *view) forest() *forest {
	if len(v.t.Comparisons) == 0 {
		return nil
	}
	base := v.t.Run.Baseline
	x := v.forestSpan()
	f := &forest{
		Title: v.say("forest.title", base), Lead: v.say("forest.lead", base, v.confidence()),
		Margin: v.say("forest.same", plainPercent(v.t.Rules.EquivalenceMargin)),
	}
	f.Axis = append(f.Axis,
		text(percentage(x.at(1)-1), "12", "end", "side", v.say("forest.slower", base)),
		text(percentage(x.at(1)+1), "12", "start", "side", v.say("forest.faster", base)),
	)
	for _, t := range ratioTicks(x) {
		f.Axis = append(f.Axis, text(percentage(x.at(t)), "34", anchorAt(x.at(t)), "tick", times(t)))
	}
	for _, c := range v.t.Comparisons {
		g := forestGroup{Name: c.Implementation, Look: v.looks[c.Implementation]}
		overall := v.forestRow(x, c.Overall, c.Verdict, c.Reason, c.Implementation)
		overall.Overall = true
		overall.Label = v.say("forest.overall", v.count("levels", c.Deciding().Levels))
		if len(c.Levels) > 1 {
			g.Rows = append(g.Rows, overall)
		}
		for _, l := range c.Levels {
			row := v.forestRow(x, l.Results, l.Verdict, l.Reason, c.Implementation)
			row.Label = v.levelName(l.Point)
			g.Rows = append(g.Rows, row)
		}
		f.Groups = append(f.Groups, g)
	}
	return f
}

// forestSpan holds all means, the intervals that have a verdict to support, and the points.
func (v *view) forestSpan() span {
	s := span{low: 1 / narrowestSpan, high: narrowestSpan, from: 2, to: 98, log: true}
	hold := func(r float64) { s.low, s.high = min(s.low, r), max(s.high, r) }
	for _, c := range v.t.Comparisons {
		results := append([]stats.Result{}, c.Overall...)
		for _, l := range c.Levels {
			results = append(results, l.Results...)
		}
		for _, r := range results {
			for _, p := range r.Pairs {
				hold(advantage(r, p.Ratio))
			}
			if r.Low != nil && r.FewestPairs >= v.t.Rules.MinBlocks {
				hold(advantage(r, *r.Low))
				hold(advantage(r, *r.High))
			}
		}
	}
	s.low, s.high = max(s.low/1.03, 1/widestRatio), min(s.high*1.03, widestRatio)
	return s
}

// forestRow draws the deciding metric above and the other below.
func (v *view) forestRow(x span, results []stats.Result, verdict stats.Verdict, reason stats.VerdictReason, implementation string) forestRow {
	row := forestRow{Height: rowHeight, Tone: tones[verdict]}
	margin := 1 + v.t.Rules.EquivalenceMargin
	left, right := x.at(x.clip(1/margin)), x.at(x.clip(margin))
	row.Strip = append(row.Strip,
		mark{Kind: "band", X: percentage(left), Y: "0", W: percentage(right - left), H: pixels(rowHeight), Class: "margin"},
		line(percentage(x.at(1)), "0", percentage(x.at(1)), pixels(rowHeight), "one"),
	)
	for _, decides := range []bool{true, false} {
		for _, r := range results {
			if r.Decides != decides {
				continue
			}
			y := float64(besideLine)
			if decides {
				y = mainLine
				row.Verdict, row.Why = v.rowVerdict(r, verdict, reason)
			}
			row.Strip = append(row.Strip, v.forestMarks(x, r, y, v.looks[implementation], implementation)...)
			row.Values = append(row.Values, forestValue{Decides: decides, Text: v.forestText(r)})
		}
	}
	return row
}

// forestMarks draw one result: its blocks, its interval and its mean.
func (v *view) forestMarks(x span, r stats.Result, y float64, look look, implementation string) []mark {
	var out []mark
	at := pixels(y)
	kind := "beside "
	if r.Decides {
		kind = "decides "
	}
	if r.Blocks < v.t.Rules.MinBlocks {
		kind += "weak "
	}
	if r.Low != nil && r.High != nil {
		low, high := advantage(r, *r.Low), advantage(r, *r.High)
		out = append(out, line(percentage(x.at(x.clip(min(low, high)))), at, percentage(x.at(x.clip(max(low, high)))), at, "interval "+kind+look.Class))
	}
	for _, p := range r.Pairs {
		a := advantage(r, p.Ratio)
		if !x.holds(a) {
			continue
		}
		out = append(out, mark{
			Kind: "dot", X: percentage(x.at(a)), Y: at, Class: "pair " + kind + look.Class,
			Title: v.say("forest.pair", integer(int64(p.Block)), times(a), v.metric(r.Metric), implementation, v.t.Run.Baseline, times(p.Ratio)),
		})
	}
	if r.Ratio != nil {
		out = append(out, mark{Kind: "diamond", X: percentage(x.at(x.clip(advantage(r, *r.Ratio)))), Y: at, Class: "estimate " + kind + look.Class, Title: v.forestText(r)})
	}
	return out
}

// advantage turns a ratio so that more than 1 is better.
func advantage(r stats.Result, ratio float64) float64 {
	if r.Metric.MoreIsBetter() {
		return ratio
	}
	return 1 / ratio
}

// forestText is the ratio of one metric in words: its base and its direction are in the row's heading.
func (v *view) forestText(r stats.Result) string {
	metric := v.shortMetric(r.Metric)
	if r.Ratio == nil {
		return metric + " " + missing
	}
	out := metric + " " + times(*r.Ratio)
	if r.Low != nil && r.Blocks >= v.t.Rules.MinBlocks {
		out += " (" + v.say("forest.interval", ratio(*r.Low), ratio(*r.High)) + ")"
	}
	return out
}

var tones = map[stats.Verdict]string{stats.Better: "faster", stats.Worse: "slower", stats.NoDifference: "same", stats.DependsOnLoad: "unknown", stats.Inconclusive: "unknown"}

// rowVerdict puts a verdict into two or three words, and the reason for none into a few more.
func (v *view) rowVerdict(r stats.Result, verdict stats.Verdict, reason stats.VerdictReason) (words, why string) {
	words = v.say("verdict." + string(verdict))
	switch {
	case reason == "":
	case r.Blocks == 0:
		why = v.say("reason.nopair")
	case reason == stats.TooFewBlocks:
		why = v.say("reason.TooFewBlocks", integer(int64(r.Blocks)), integer(int64(v.t.Rules.MinBlocks)))
	default:
		why = v.say("reason." + string(reason))
	}
	return words, why
}
