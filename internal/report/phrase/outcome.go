package phrase

import (
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
)

// Outcome is a headline entry in words. Report and status line share these sentences, without their full stops.
type Outcome struct {
	// Title names the better side, the metric and the difference, or says that the comparison is inconclusive.
	Title string
	// Evidence is the interval with the number of levels and blocks. Why says why there is no winner, Decide what
	// would decide.
	Evidence, Why, Decide string
	// Besides are other metrics with a winner, Levels the levels or loads with one.
	Besides, Levels []string
	// Unsustained names the levels left out, since neither side sustained their rates.
	Unsustained string
}

// OutcomeOf describes an entry; pointName names a level within its load.
func (l Lexicon) OutcomeOf(h analysis.Headline, e analysis.HeadlineEntry, pointName func(analysis.LevelVerdict) string) Outcome {
	o := Outcome{Evidence: l.evidence(h.Rules, e)}
	margin := format.PlainPercent(h.Rules.EquivalenceMargin)
	switch {
	case e.Reason == verdict.RateNotSustained:
		o.Title = l.rateTitle(e, pointName)
		o.Evidence = ""
	case e.Reason == verdict.NeitherSustained:
		o.Title = l.Say("headline.NeitherSustained", e.Implementation, e.Baseline, l.rates(e.Unsustained, pointName))
		return o
	case e.Verdict == verdict.Inconclusive && e.Reason == verdict.ImplementationFailures:
		o.Title = l.Say("headline.ImplementationFailures", e.Implementation, e.Baseline, l.Metric(e.Metric))
	case e.Verdict == verdict.Better || e.Verdict == verdict.Worse:
		o.Title = l.Effect(e.Metric, e.Implementation, e.Baseline, *e.Ratio, e.AtLeast)
	case e.Verdict == verdict.NoDifference:
		o.Title = l.Say("same."+kind(e.Metric), e.Implementation, e.Baseline, margin, e.Metric.Percentile())
	case e.SameInTheMean:
		o.Title = l.Say("headline.SameInTheMean", e.Implementation, e.Baseline, margin, l.Metric(e.Metric))
	case e.Verdict == verdict.DependsOnLoad:
		o.Title = l.Say("headline.DependsOnLoad", e.Implementation, e.Baseline)
	case e.Ratio == nil && len(e.Loads) > 0:
		o.Title = l.Say("headline.nopair.loads", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Metric == verdict.Capacity:
		o.Title = l.Say("headline.nopair.searches", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Fewest != nil:
		o.Title = l.Say("headline.nopair.level", e.Implementation, e.Baseline, pointName(analysis.LevelVerdict{Point: *e.Fewest}))
	case e.Ratio == nil:
		o.Title = l.Say("headline.nopair", e.Implementation, e.Baseline)
	default:
		o.Title = l.Say("headline.Inconclusive", e.Implementation, e.Baseline, l.Metric(e.Metric))
	}
	o.Why, o.Decide = l.why(h.Rules, e, pointName), l.wouldDecide(h.Rules, e)
	for _, b := range e.OtherMetrics {
		o.Besides = append(o.Besides, l.Effect(b.Metric, e.Implementation, e.Baseline, b.Ratio, b.AtLeast)+" ("+l.interval(h.Rules, b.Ratio, b.Low, b.High, b.AtLeast)+")")
	}
	for _, v := range e.Decided {
		o.Levels = append(o.Levels, l.levelVerdict(e, v, pointName(v)))
	}
	if len(e.Unsustained) > 0 {
		o.Unsustained = l.Say("unsustained", l.rates(e.Unsustained, pointName))
	}
	for _, v := range e.Loads {
		o.Levels = append(o.Levels, l.Say("load.verdict", v.Load, format.Plain(v.Weight), l.Say("load."+string(v.Verdict))))
	}
	return o
}

func kind(m verdict.Metric) string {
	if m.Percentile() != "" {
		return "latency"
	}
	return string(m)
}

// Metric names a metric. Rows use their kind's name.
func (l Lexicon) Metric(m verdict.Metric) string {
	if p := m.Percentile(); p != "" {
		return l.Say("metric.latency", p)
	}
	if key := "metric." + string(m); l.Has(key) {
		return l.Say(key)
	}
	return string(m)
}

// Effect describes a contender's difference: more or less by a percentage, or a multiple from twice on.
func (l Lexicon) Effect(m verdict.Metric, contender, baseline string, ratio float64, atLeast bool) string {
	way, amount := "more", strings.TrimLeft(format.Change(ratio), "+−")
	switch {
	case ratio >= format.Manyfold:
		way = "times"
	case ratio < 1:
		way = "less"
	}
	if atLeast {
		amount = l.Say("amount.atleast", amount)
	}
	return l.Say("effect."+kind(m)+"."+way, contender, amount, baseline, m.Percentile())
}

// interval prints a ratio's interval. The far end of a lower bound is open.
func (l Lexicon) interval(rules analysis.Rules, ratio, low, high float64, atLeast bool) string {
	switch {
	case atLeast && ratio > 1:
		high = math.Inf(1)
	case atLeast:
		low = 0
	}
	return l.Say("evidence.interval", format.PlainPercent(rules.Confidence), l.ChangeInterval(ratio, low, high))
}

func (l Lexicon) evidence(rules analysis.Rules, e analysis.HeadlineEntry) string {
	if e.Ratio == nil {
		return ""
	}
	within := format.Change(*e.Ratio)
	if e.Low != nil && e.High != nil && e.FewestPairs >= rules.MinBlocks {
		within = l.interval(rules, *e.Ratio, *e.Low, *e.High, e.AtLeast && e.Verdict != verdict.Inconclusive)
		if e.Verdict != verdict.Better && e.Verdict != verdict.Worse {
			within = format.Join(", ", format.Change(*e.Ratio), within)
		}
	}
	if e.Verdict == verdict.DependsOnLoad {
		within = format.Join(" ", l.Metric(e.Metric), within)
	}
	mean := ""
	if e.Levels > 1 {
		mean = l.Say("evidence.levels", e.Levels)
	}
	return format.Join(", ", within, mean, l.Count("blocks", e.Blocks))
}

func (l Lexicon) rateTitle(e analysis.HeadlineEntry, pointName func(analysis.LevelVerdict) string) string {
	loser, keeper := e.Implementation, e.Baseline
	if e.Verdict == verdict.Better {
		loser, keeper = keeper, loser
	}
	var lost []record.Point
	for _, v := range e.Decided {
		if v.Reason == verdict.RateNotSustained {
			lost = append(lost, v.Point)
		}
	}
	return l.Say("headline.RateNotSustained", loser, l.rates(lost, pointName), keeper)
}

func (l Lexicon) rates(levels []record.Point, pointName func(analysis.LevelVerdict) string) string {
	var out []string
	for _, p := range levels {
		out = append(out, pointName(analysis.LevelVerdict{Point: p}))
	}
	return strings.Join(out, l.Say("and"))
}

func (l Lexicon) levelVerdict(e analysis.HeadlineEntry, v analysis.LevelVerdict, at string) string {
	if v.Reason == verdict.RateNotSustained {
		r := *v.Rate
		loser, keeper, missed, of, kept, nearly := e.Implementation, e.Baseline, r.ContenderMissed, r.ContenderMissed+r.ContenderSustained+r.ContenderNearly, r.BaselineSustained, r.BaselineNearly
		if v.Verdict == verdict.Better {
			loser, keeper, missed, of, kept, nearly = keeper, loser, r.BaselineMissed, r.BaselineMissed+r.BaselineSustained+r.BaselineNearly, r.ContenderSustained, r.ContenderNearly
		}
		if nearly > 0 {
			return l.Say("level.RateNotSustained.nearly", at, loser, missed, l.Count("blocks", of), keeper, kept, l.Count("blocks", kept+nearly))
		}
		return l.Say("level.RateNotSustained", at, loser, missed, l.Count("blocks", of), keeper, l.Count("blocks", kept))
	}
	return l.Say("level.verdict", at, l.Effect(v.Metric, e.Implementation, e.Baseline, *v.Ratio, v.AtLeast))
}

func (l Lexicon) why(rules analysis.Rules, e analysis.HeadlineEntry, pointName func(analysis.LevelVerdict) string) string {
	switch {
	case e.Verdict != verdict.Inconclusive:
		return ""
	case e.Blocks == 0 && e.Reason == verdict.TooFewBlocks:
		return l.void(e)
	case e.Reason == verdict.TooFewBlocks && e.Fewest != nil:
		return format.Join("; ", l.Say("why.TooFewPairs", rules.MinBlocks, e.FewestPairs, pointName(analysis.LevelVerdict{Point: *e.Fewest})), l.void(e))
	case e.Reason == verdict.TooFewBlocks:
		return format.Join("; ", l.Say("why.TooFewBlocks.verdict", rules.MinBlocks, e.FewestPairs), l.void(e))
	case e.Reason == verdict.BoundsOnly && e.Metric == verdict.Capacity:
		return l.Say("why.BoundsOnly.capacity")
	}
	return l.Say("why.verdict." + string(e.Reason))
}

func (l Lexicon) wouldDecide(rules analysis.Rules, e analysis.HeadlineEntry) string {
	switch {
	case e.Verdict != verdict.Inconclusive || e.Ratio == nil:
		return ""
	case e.BlocksNeeded > 0:
		return l.Say("decide.blocks", e.BlocksNeeded, format.PlainPercent(rules.Power))
	case e.Bracketed:
		return l.Say("decide.bracketed")
	case e.Reason == verdict.NoiseTooHigh:
		return l.Say("decide.hopeless")
	}
	return ""
}

// void counts cells that do not count, with reasons.
func (l Lexicon) void(e analysis.HeadlineEntry) string {
	if e.VoidCells == 0 {
		return ""
	}
	var reasons []string
	for _, r := range e.VoidReasons {
		reasons = append(reasons, string(r))
	}
	return l.Say("why.void", e.VoidCells, e.Cells, strings.Join(reasons, ", "))
}

// Calibration describes an A/A run's noise floor.
func (l Lexicon) Calibration(h analysis.Headline) string {
	var found []string
	for _, n := range h.Calibration.Entries {
		if n.Point == nil {
			found = append(found, l.Say("calibration.of", format.Percent(n.Detectable), l.Metric(verdict.Metric(n.Metric))))
		}
	}
	return l.Say("headline.calibration", strings.Join(found, l.Say("and")), l.Count("blocks", int(h.Calibration.Blocks)))
}

// Found lists the rates that one load's search found.
func (l Lexicon) Found(h analysis.Headline, load string) string {
	var rates []string
	at := ""
	for _, p := range h.Peaks {
		if !p.Sustained || p.Load != load {
			continue
		}
		bound := ""
		if p.IsBound {
			bound = l.Say("amount.atleast", "")
		}
		rates = append(rates, l.Say("found.rate", p.Implementation, bound+format.Rate(p.Throughput.Mean)))
		at = l.Say("found.at", p.Percentile, p.MaxMilliseconds)
	}
	if len(rates) == 0 {
		return ""
	}
	return at + strings.Join(rates, ", ")
}

// LoadOf names an entry's load if the run has several.
func (l Lexicon) LoadOf(h analysis.Headline, e analysis.HeadlineEntry) string {
	switch {
	case len(e.Loads) > 0:
		return l.Say("headline.allLoads")
	case slices.ContainsFunc(h.Entries, func(o analysis.HeadlineEntry) bool { return o.Load != e.Load }):
		return l.Say("headline.load", e.Load)
	}
	return ""
}
