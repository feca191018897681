package report

import (
	"math"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/verdict"
)

// outcome is one entry of a headline in words. The report and the status line are made of the same sentences, without their full stops.
type outcome struct {
	// title says who is better, by which metric and by how much, or that this cannot be said.
	title string
	// evidence is the interval with the number of levels and blocks; why says why nobody has won, and decide what would decide it.
	evidence, why, decide string
	// besides are the other metrics that have a winner, and levels those levels, or loads, that have one.
	besides, levels []string
	// unkept names the levels that are left out since neither side kept their rates.
	unkept string
}

// outcomeOf puts an entry into words; pointName names a level within its load.
func (l language) outcomeOf(h analysis.Headline, e analysis.HeadlineEntry, pointName func(analysis.LevelVerdict) string) outcome {
	o := outcome{evidence: l.evidence(h.Rules, e)}
	margin := plainPercent(h.Rules.EquivalenceMargin)
	switch {
	case e.Reason == verdict.RateNotKept:
		o.title = l.rateTitle(e, pointName)
		o.evidence = ""
	case e.Reason == verdict.NeitherKept:
		o.title = l.say("headline.NeitherKept", e.Implementation, e.Baseline, l.rates(e.Unkept, pointName))
		return o
	case e.Verdict == verdict.Inconclusive && e.Reason == verdict.OwnFaults:
		o.title = l.say("headline.OwnFaults", e.Implementation, e.Baseline, l.metric(e.Metric))
	case e.Verdict == verdict.Better || e.Verdict == verdict.Worse:
		o.title = l.effect(e.Metric, e.Implementation, e.Baseline, *e.Ratio, e.AtLeast)
	case e.Verdict == verdict.NoDifference:
		o.title = l.say("same."+kind(e.Metric), e.Implementation, e.Baseline, margin, e.Metric.Percentile())
	case e.SameInTheMean:
		o.title = l.say("headline.SameInTheMean", e.Implementation, e.Baseline, margin, l.metric(e.Metric))
	case e.Verdict == verdict.DependsOnLoad:
		o.title = l.say("headline.DependsOnLoad", e.Implementation, e.Baseline)
	case e.Ratio == nil && len(e.Loads) > 0:
		o.title = l.say("headline.nopair.loads", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Metric == verdict.Capacity:
		o.title = l.say("headline.nopair.searches", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Fewest != nil:
		o.title = l.say("headline.nopair.level", e.Implementation, e.Baseline, pointName(analysis.LevelVerdict{Point: *e.Fewest}))
	case e.Ratio == nil:
		o.title = l.say("headline.nopair", e.Implementation, e.Baseline)
	default:
		o.title = l.say("headline.Inconclusive", e.Implementation, e.Baseline, l.metric(e.Metric))
	}
	o.why, o.decide = l.why(h.Rules, e, pointName), l.wouldDecide(h.Rules, e)
	for _, b := range e.Beside {
		o.besides = append(o.besides, l.effect(b.Metric, e.Implementation, e.Baseline, b.Ratio, b.AtLeast)+" ("+l.interval(h.Rules, b.Ratio, b.Low, b.High, b.AtLeast)+")")
	}
	for _, v := range e.Decided {
		o.levels = append(o.levels, l.levelVerdict(e, v, pointName(v)))
	}
	if len(e.Unkept) > 0 {
		o.unkept = l.say("unkept", l.rates(e.Unkept, pointName))
	}
	for _, v := range e.Loads {
		o.levels = append(o.levels, l.say("load.verdict", v.Load, plainNumber(v.Weight), l.say("load."+string(v.Verdict))))
	}
	return o
}

// kind names the words of a metric.
func kind(m verdict.Metric) string {
	if m.Percentile() != "" {
		return "latency"
	}
	return string(m)
}

// metric names a metric in a sentence.
func (l language) metric(m verdict.Metric) string {
	if p := m.Percentile(); p != "" {
		return l.say("metric.latency", p)
	}
	return l.say("metric." + string(m))
}

// effect says by how much a contender's metric differs from the baseline's: more or less by a percentage, or a multiple from twice on.
func (l language) effect(m verdict.Metric, contender, baseline string, ratio float64, atLeast bool) string {
	way, amount := "more", strings.TrimLeft(change(ratio), "+−")
	switch {
	case ratio >= manyfold:
		way = "times"
	case ratio < 1:
		way = "less"
	}
	if atLeast {
		amount = l.say("amount.atleast", amount)
	}
	return l.say("effect."+kind(m)+"."+way, contender, amount, baseline, m.Percentile())
}

// interval prints the interval of a ratio with its confidence. Of a difference that is only a lower bound the far end is open.
func (l language) interval(rules analysis.Rules, ratio, low, high float64, atLeast bool) string {
	switch {
	case atLeast && ratio > 1:
		high = math.Inf(1)
	case atLeast:
		low = 0
	}
	return l.say("evidence.interval", plainPercent(rules.Confidence), l.changeInterval(ratio, low, high))
}

// evidence says what a verdict rests on.
func (l language) evidence(rules analysis.Rules, e analysis.HeadlineEntry) string {
	if e.Ratio == nil {
		return ""
	}
	within := change(*e.Ratio)
	if e.Low != nil && e.High != nil && e.FewestPairs >= rules.MinBlocks {
		within = l.interval(rules, *e.Ratio, *e.Low, *e.High, e.AtLeast && e.Verdict != verdict.Inconclusive)
		if e.Verdict != verdict.Better && e.Verdict != verdict.Worse {
			within = join(", ", change(*e.Ratio), within)
		}
	}
	if e.Verdict == verdict.DependsOnLoad {
		within = join(" ", l.metric(e.Metric), within)
	}
	mean := ""
	if e.Levels > 1 {
		mean = l.say("evidence.levels", e.Levels)
	}
	return join(", ", within, mean, l.count("blocks", e.Blocks))
}

// rateTitle says who did not keep which rates.
func (l language) rateTitle(e analysis.HeadlineEntry, pointName func(analysis.LevelVerdict) string) string {
	loser, keeper := e.Implementation, e.Baseline
	if e.Verdict == verdict.Better {
		loser, keeper = keeper, loser
	}
	var lost []record.Point
	for _, v := range e.Decided {
		if v.Reason == verdict.RateNotKept {
			lost = append(lost, v.Point)
		}
	}
	return l.say("headline.RateNotKept", loser, l.rates(lost, pointName), keeper)
}

// rates names levels with imposed rates.
func (l language) rates(levels []record.Point, pointName func(analysis.LevelVerdict) string) string {
	var out []string
	for _, p := range levels {
		out = append(out, pointName(analysis.LevelVerdict{Point: p}))
	}
	return strings.Join(out, l.say("and"))
}

// levelVerdict says who is better at one level.
func (l language) levelVerdict(e analysis.HeadlineEntry, v analysis.LevelVerdict, at string) string {
	if v.Reason == verdict.RateNotKept {
		r := *v.Rate
		loser, keeper, missed, of, kept, nearly := e.Implementation, e.Baseline, r.ContenderMissed, r.ContenderMissed+r.ContenderKept+r.ContenderNearly, r.BaselineKept, r.BaselineNearly
		if v.Verdict == verdict.Better {
			loser, keeper, missed, of, kept, nearly = keeper, loser, r.BaselineMissed, r.BaselineMissed+r.BaselineKept+r.BaselineNearly, r.ContenderKept, r.ContenderNearly
		}
		if nearly > 0 {
			return l.say("level.RateNotKept.nearly", at, loser, missed, l.count("blocks", of), keeper, kept, l.count("blocks", kept+nearly))
		}
		return l.say("level.RateNotKept", at, loser, missed, l.count("blocks", of), keeper, l.count("blocks", kept))
	}
	return l.say("level.verdict", at, l.effect(v.Metric, e.Implementation, e.Baseline, *v.Ratio, v.AtLeast))
}

// why says why there is no winner.
func (l language) why(rules analysis.Rules, e analysis.HeadlineEntry, pointName func(analysis.LevelVerdict) string) string {
	switch {
	case e.Verdict != verdict.Inconclusive:
		return ""
	case e.Blocks == 0 && e.Reason == verdict.TooFewBlocks:
		return l.void(e)
	case e.Reason == verdict.TooFewBlocks && e.Fewest != nil:
		return join("; ", l.say("why.TooFewPairs", rules.MinBlocks, e.FewestPairs, pointName(analysis.LevelVerdict{Point: *e.Fewest})), l.void(e))
	case e.Reason == verdict.TooFewBlocks:
		return join("; ", l.say("why.TooFewBlocks.verdict", rules.MinBlocks, e.FewestPairs), l.void(e))
	case e.Reason == verdict.BoundsOnly && e.Metric == verdict.Capacity:
		return l.say("why.BoundsOnly.capacity")
	}
	return l.say("why.verdict." + string(e.Reason))
}

// wouldDecide says what would decide an open comparison.
func (l language) wouldDecide(rules analysis.Rules, e analysis.HeadlineEntry) string {
	switch {
	case e.Verdict != verdict.Inconclusive || e.Ratio == nil:
		return ""
	case e.BlocksNeeded > 0:
		return l.say("decide.blocks", e.BlocksNeeded, plainPercent(rules.Power))
	case e.Reason == verdict.NoiseTooHigh:
		return l.say("decide.hopeless")
	}
	return ""
}

// void says how many cells count nowhere and by which reasons, as the report explains them.
func (l language) void(e analysis.HeadlineEntry) string {
	if e.VoidCells == 0 {
		return ""
	}
	var reasons []string
	for _, r := range e.VoidReasons {
		reasons = append(reasons, string(r))
	}
	return l.say("why.void", e.VoidCells, e.Cells, strings.Join(reasons, ", "))
}

// gate says how the objectives came out, and the worst of those missed.
func (l language) gate(g *analysis.Gate) (title, worst string) {
	all := g.Met + g.Missed + g.Undecided
	switch {
	case g.Missed > 0:
		title = l.say("gate.failed", g.Missed, all)
		if g.Undecided > 0 {
			title += l.say("gate.andUndecided", g.Undecided)
		}
	case g.Undecided > 0:
		title = l.say("gate.undecided", g.Undecided, all)
	default:
		title = l.say("gate.passed", all)
	}
	if g.Worst != nil {
		worst = l.objective(*g.Worst)
	}
	return title, worst
}

// objective says in a sentence how one objective came out.
func (l language) objective(o objectives.Result) string {
	print := unitPrinters[o.Metric]
	bound, value := "objective.atleast", o.Min
	if o.Max != nil {
		bound, value = "objective.atmost", o.Max
	}
	what := objectiveMetric(l, o)
	if o.Name != "" {
		what = o.Name
	}
	return l.say("gate.worst", what, o.Implementation, o.Point.Name(), orMissing(o.Figure, print), l.say(bound, print(*value)))
}

// calibration says what an A/A run has found of its machine.
func (l language) calibration(h analysis.Headline) string {
	var found []string
	for _, n := range h.Calibration.Entries {
		if n.Point == nil {
			found = append(found, l.say("calibration.of", percent(n.Detectable), l.metric(verdict.Metric(n.Metric))))
		}
	}
	return l.say("headline.calibration", strings.Join(found, l.say("and")), l.count("blocks", int(h.Calibration.Blocks)))
}

// found says which rates a search found, of one load.
func (l language) found(h analysis.Headline, load string) string {
	var rates []string
	at := ""
	for _, p := range h.Peaks {
		if !p.Kept || p.Load != load {
			continue
		}
		bound := ""
		if p.IsBound {
			bound = l.say("amount.atleast", "")
		}
		rates = append(rates, l.say("found.rate", p.Implementation, bound+rate(p.Throughput.Mean)))
		at = l.say("found.at", p.Percentile, p.MaxMilliseconds)
	}
	if len(rates) == 0 {
		return ""
	}
	return at + strings.Join(rates, ", ")
}
