package phrase

import (
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
)

// Outcome is a headline entry in words. Report and status line share these sentences, without their full stops.
type Outcome struct {
	// Title names the better side, the metric and the difference, or says that the comparison is inconclusive. Second
	// continues with a winner that the title alone would hide, or with the latency at an imposed rate.
	Title, Second string
	// Evidence is the interval with the number of levels and blocks. Why says why there is no winner, Decide what
	// would decide.
	Evidence, Why, Decide string
	// Besides are other metrics with a winner, Levels the levels or loads with one.
	Besides, Levels []string
	// Unsustained names the levels left out, since neither side sustained their rates.
	Unsustained string
}

// OutcomeOf describes an entry; pointName names a level within its load.
func (l Lexicon) OutcomeOf(h analysis.Headline, e analysis.HeadlineEntry, pointName func(verdict.Winner) string) Outcome {
	if e.Indicated != nil {
		return l.indicated(h.Rules, e, *e.Indicated)
	}
	o := Outcome{Evidence: l.evidence(h.Rules, e)}
	if seconds := l.seconds(h.Rules, e, pointName); e.Verdict == verdict.DependsOnLoad {
		o.Besides = seconds // The title names no side, and the levels stand after it.
	} else {
		o.Second = l.second(e, seconds)
	}
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
	case e.Said() == verdict.Better || e.Said() == verdict.Worse:
		o.Title = l.Effect(e.Metric, e.Implementation, e.Baseline, *e.Ratio, e.AtLeast)
	case e.Said() == verdict.NoDifference:
		o.Title = l.Say("same."+kind(e.Metric), e.Implementation, e.Baseline, margin, e.Metric.Percentile())
	case e.SameInTheMean:
		o.Title = l.Say("headline.SameInTheMean", e.Implementation, e.Baseline, margin, l.Metric(e.Metric))
	case e.Verdict == verdict.DependsOnLoad:
		o.Title = l.Say("headline.DependsOnLoad", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Reason == verdict.CPUUncounted:
		o.Title = l.Say("headline.Inconclusive", e.Implementation, e.Baseline, l.Metric(e.Metric))
	case e.Ratio == nil && len(e.Loads) > 0:
		o.Title = l.Say("headline.nopair.loads", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Metric == verdict.Capacity:
		o.Title = l.Say("headline.nopair.searches", e.Implementation, e.Baseline)
	case e.Ratio == nil && e.Fewest != nil:
		o.Title = l.Say("headline.nopair.level", e.Implementation, e.Baseline, pointName(verdict.Winner{Point: *e.Fewest}))
	case e.Ratio == nil:
		o.Title = l.Say("headline.nopair", e.Implementation, e.Baseline)
	default:
		o.Title = l.Say("headline.Inconclusive", e.Implementation, e.Baseline, l.Metric(e.Metric))
	}
	if e.Verdict == verdict.Mixed {
		o.Title = l.Say("headline.Mixed", o.Title)
	}
	o.Why, o.Decide = l.why(h.Rules, e, pointName), l.wouldDecide(h.Rules, e)
	for _, b := range e.OtherMetrics {
		if !slices.ContainsFunc(e.Seconds, func(w verdict.Winner) bool { return w.Point == b.Point && w.Metric == b.Metric }) {
			o.Besides = append(o.Besides, l.winner(e, b)+" ("+format.Join(", ", l.interval(h.Rules, *b.Ratio, *b.Low, *b.High, b.AtLeast), l.suspect(b.SuspectCells, b.UsedCells, b.SuspectReasons))+")")
		}
	}
	for _, v := range e.Decided {
		o.Levels = append(o.Levels, l.levelVerdict(h.Rules, e, v, pointName(v)))
	}
	if len(e.Unsustained) > 0 {
		o.Unsustained = l.Say("unsustained", l.rates(e.Unsustained, pointName))
	}
	for _, v := range e.Loads {
		o.Levels = append(o.Levels, l.Say("load.verdict", v.Load, format.Plain(v.Weight), l.Say("load."+string(v.Verdict))))
	}
	return o
}

func (l Lexicon) indicated(rules analysis.Rules, e analysis.HeadlineEntry, i verdict.Indication) Outcome {
	mean := ""
	if i.Levels > 1 {
		mean = l.Say("evidence.levels", i.Levels)
	}
	return Outcome{
		Title:    l.Say("headline.Indicated", l.Effect(i.Metric, e.Implementation, e.Baseline, i.Ratio, i.AtLeast)),
		Evidence: format.Join(", ", l.interval(rules, i.Ratio, i.Low, i.High, i.AtLeast), mean, l.Count("blocks", i.Blocks)),
		Why:      l.Say("why.disturbed", i.Void, i.Cells, codes(i.Reasons)),
	}
}

// seconds describes each hidden winner with its place and evidence.
func (l Lexicon) seconds(rules analysis.Rules, e analysis.HeadlineEntry, pointName func(verdict.Winner) string) []string {
	var all []string
	for _, w := range e.Seconds {
		switch {
		case w.Reason == verdict.RateNotSustained:
			all = append(all, l.levelVerdict(rules, e, w, pointName(w)))
		case w.Connections > 0:
			all = append(all, l.Say("second.level", pointName(w), l.winner(e, w))+l.winnerEvidence(rules, w))
		case w.Load != "":
			all = append(all, l.Say("second.load", w.Load, l.winner(e, w))+l.winnerEvidence(rules, w))
		default:
			all = append(all, l.winner(e, w)+l.winnerEvidence(rules, w))
		}
	}
	return all
}

// second appends the hidden winners to the title.
func (l Lexicon) second(e analysis.HeadlineEntry, seconds []string) string {
	if len(seconds) == 0 {
		return ""
	}
	words := strings.Join(seconds, l.Say("and"))
	if e.More > 0 {
		words += l.Count("second.more", e.More)
	}
	if e.Verdict == verdict.Better || e.Verdict == verdict.Worse {
		return l.Say("second.and", words)
	}
	return l.Say("second.but", words)
}

func (l Lexicon) winner(e analysis.HeadlineEntry, w verdict.Winner) string {
	return l.Effect(w.Metric, e.Implementation, e.Baseline, *w.Ratio, w.AtLeast)
}

// winnerEvidence prints a winner's interval and blocks in parentheses.
func (l Lexicon) winnerEvidence(rules analysis.Rules, w verdict.Winner) string {
	if w.Low == nil || w.High == nil {
		return ""
	}
	suspect := l.suspect(w.SuspectCells, w.UsedCells, w.SuspectReasons)
	return " (" + format.Join(", ", l.interval(rules, *w.Ratio, *w.Low, *w.High, w.AtLeast), l.Count("blocks", w.Blocks), suspect) + ")"
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
		if e.Said() != verdict.Better && e.Said() != verdict.Worse {
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
	return format.Join(", ", within, mean, l.Count("blocks", e.Blocks), l.suspect(e.SuspectCells, e.UsedCells, e.SuspectReasons))
}

func (l Lexicon) suspect(cells, of int, why []validity.Code) string {
	if cells == 0 {
		return ""
	}
	return l.Say("evidence.suspect", cells, of, codes(why))
}

func codes(all []validity.Code) string {
	var out []string
	for _, c := range all {
		out = append(out, string(c))
	}
	return strings.Join(out, ", ")
}

func (l Lexicon) rateTitle(e analysis.HeadlineEntry, pointName func(verdict.Winner) string) string {
	loser, keeper := e.Implementation, e.Baseline
	if e.Said() == verdict.Better {
		loser, keeper = keeper, loser
	}
	var lost []record.Point
	for _, v := range e.Decided {
		if v.Reason == verdict.RateNotSustained && v.Verdict == e.Said() {
			lost = append(lost, v.Point)
		}
	}
	return l.Say("headline.RateNotSustained", loser, l.rates(lost, pointName), keeper)
}

func (l Lexicon) rates(levels []record.Point, pointName func(verdict.Winner) string) string {
	var out []string
	for _, p := range levels {
		out = append(out, pointName(verdict.Winner{Point: p}))
	}
	return strings.Join(out, l.Say("and"))
}

func (l Lexicon) levelVerdict(rules analysis.Rules, e analysis.HeadlineEntry, v verdict.Winner, at string) string {
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
	return l.Say("level.verdict", at, l.winner(e, v)+l.winnerEvidence(rules, v))
}

func (l Lexicon) why(rules analysis.Rules, e analysis.HeadlineEntry, pointName func(verdict.Winner) string) string {
	switch {
	case e.Verdict != verdict.Inconclusive:
		return ""
	case e.Blocks == 0 && e.Reason == verdict.TooFewBlocks:
		return l.void(e)
	case e.Reason == verdict.TooFewBlocks && e.Fewest != nil:
		return format.Join("; ", l.Say("why.TooFewPairs", rules.MinBlocks, e.FewestPairs, pointName(verdict.Winner{Point: *e.Fewest})), l.void(e))
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
	return l.Say("why.void", e.VoidCells, e.Cells, codes(e.VoidReasons))
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
