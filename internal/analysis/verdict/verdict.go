package verdict

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// judgeAll gives every result its verdict, within the budget of family.go; alpha is that of one analysis.
func judgeAll(comparisons []Comparison, searches Searches, alpha float64, foresight bool) {
	loads, levels := slices.Clone(searches.results), []*Result{}
	for k := range comparisons {
		c := &comparisons[k]
		loads = append(loads, pointers(c.Overall)...)
		if len(c.Levels) < 2 {
			continue
		}
		for j := range c.Levels {
			levels = append(levels, pointers(c.Levels[j].Results)...)
		}
	}
	loadFamily, levelFamily := family(loads), family(levels)
	adjust(loadFamily, LoadsShare)
	adjust(levelFamily, levelsShare)
	searches.judge(alpha)
	rates := rateAlpha(comparisons, alpha)
	for k := range comparisons {
		comparisons[k].judge(alpha, rates)
	}
	for k := range comparisons {
		comparisons[k].weigh(comparisons)
	}
	if foresight {
		prospects(loadFamily, LoadsShare, alpha)
		prospects(levelFamily, levelsShare, alpha)
	}
}

func pointers(results []Result) []*Result {
	var out []*Result
	for k := range results {
		out = append(out, &results[k])
	}
	return out
}

func rateAlpha(comparisons []Comparison, alpha float64) float64 {
	levels := 0
	for _, c := range comparisons {
		for _, l := range c.Levels {
			levels += asInt(l.Rate != nil)
		}
	}
	return ratesAlpha * alpha / Alpha / float64(max(levels, 1))
}

// judge decides a comparison and its levels. A load's only level is the load.
func (c *Comparison) judge(alpha, rates float64) {
	for k := range c.Overall {
		c.Overall[k].judge(c.ContenderFailures+c.contenderMissed, c.BaselineFailures+c.baselineMissed, alpha)
	}
	d := deciding(c.Overall)
	c.Verdict, c.Reason, c.Metric = d.Verdict, d.Reason, d.Metric
	for k := range c.Levels {
		l := &c.Levels[k]
		if len(c.Levels) == 1 && len(l.Results) == len(c.Overall) {
			for j := range l.Results {
				l.Results[j].AdjustedP = c.Overall[j].AdjustedP
			}
		}
		l.judge(alpha, rates)
	}
	c.concludeLevels()
	if len(c.Loads) == 0 {
		c.weighAgainst(c.winners(record.Point{}))
	}
}

// judge decides a level. A side that misses an imposed rate which the other sustains has lost, whatever the ratios.
func (l *LevelComparison) judge(alpha, rates float64) {
	for k := range l.Results {
		l.Results[k].judge(l.ContenderFailures+l.contenderMissed(), l.BaselineFailures+l.baselineMissed(), alpha)
	}
	d := deciding(l.Results)
	l.Verdict, l.Reason, l.Metric = d.Verdict, d.Reason, d.Metric
	switch {
	case l.Rate == nil:
	case l.Rate.baselineSustains() && lostRate(l.Rate.OnlyContenderMissed, l.Rate.ContenderSustained+l.Rate.ContenderNearly, rates):
		l.Verdict, l.Reason = rateVerdict(Worse, l.BaselineFailures)
	case l.Rate.contenderSustains() && lostRate(l.Rate.OnlyBaselineMissed, l.Rate.BaselineSustained+l.Rate.BaselineNearly, rates):
		l.Verdict, l.Reason = rateVerdict(Better, l.ContenderFailures)
	case l.NeitherSustained():
		l.Verdict, l.Reason = Inconclusive, NeitherSustained
	}
}

// contenderSustains reports whether the contender sustains a rate: in most blocks fully, in the others nearly. A
// tool's pause costs a few percent of the arrivals and must not change that; a server at its limit fails it.
func (k RateCounts) contenderSustains() bool {
	return k.ContenderMissed == 0 && k.ContenderSustained > k.ContenderNearly
}

func (k RateCounts) baselineSustains() bool {
	return k.BaselineMissed == 0 && k.BaselineSustained > k.BaselineNearly
}

// lostRate reports whether a side that missed a rate alone in some blocks does not sustain it: in most blocks, in at
// least MinBlocks, and more often than chance does with probability alpha.
func lostRate(missed, sustained int, alpha float64) bool {
	return missed >= MinBlocks && missed > sustained && inference.OneSided(missed+sustained, missed) <= alpha
}

func rateVerdict(v Verdict, failures int) (Verdict, Reason) {
	if failures > 0 {
		return Inconclusive, ImplementationFailures
	}
	return v, RateNotSustained
}

// Failures includes missed rates.
func (l *LevelComparison) Failures() int {
	return l.ContenderFailures + l.BaselineFailures + l.contenderMissed() + l.baselineMissed()
}

func (l *LevelComparison) contenderMissed() int {
	if l.Rate == nil {
		return 0
	}
	return l.Rate.ContenderMissed
}

func (l *LevelComparison) baselineMissed() int {
	if l.Rate == nil {
		return 0
	}
	return l.Rate.BaselineMissed
}

// NeitherSustained: there is nothing to compare.
func (l *LevelComparison) NeitherSustained() bool {
	return l.Rate != nil && l.Rate.ContenderMissed >= MinBlocks && l.Rate.BaselineMissed >= MinBlocks && l.Rate.ContenderSustained == 0 && l.Rate.BaselineSustained == 0
}

// concludeLevels applies the levels: different winners are never averaged, and an unsustained rate loses the load if
// nothing supports the loser.
func (c *Comparison) concludeLevels() {
	better := slices.ContainsFunc(c.Levels, func(l LevelComparison) bool { return l.in(c.Metric) == Better })
	worse := slices.ContainsFunc(c.Levels, func(l LevelComparison) bool { return l.in(c.Metric) == Worse })
	open := slices.ContainsFunc(c.Levels, func(l LevelComparison) bool { return l.Reason != NeitherSustained })
	lost := slices.ContainsFunc(c.Levels, func(l LevelComparison) bool { return l.Reason == RateNotSustained })
	switch {
	case len(c.Levels) > 0 && !open:
		c.Verdict, c.Reason = Inconclusive, NeitherSustained
	case better && worse, better && c.Verdict == Worse, worse && c.Verdict == Better:
		c.Verdict, c.Reason = DependsOnLoad, ""
	case lost && worse:
		c.Verdict, c.Reason = Worse, RateNotSustained
	case lost && better:
		c.Verdict, c.Reason = Better, RateNotSustained
	case (better || worse) && c.Verdict == NoDifference && len(c.Levels) > 1:
		c.Verdict, c.Reason = DependsOnLoad, ""
	case c.Verdict == NoDifference && c.levelsMayDiffer():
		c.Verdict, c.Reason = Inconclusive, LevelsMayDiffer
	}
}

// in returns the level's verdict in a metric, or that of an unsustained rate. Verdicts of different metrics do not
// contradict each other.
func (l LevelComparison) in(m Metric) Verdict {
	r := InMetric(l.Results, m)
	if l.Reason == RateNotSustained || r == nil {
		return l.Verdict
	}
	return r.Verdict
}

// opposedAlpha: two levels that oppose each other with so small a p are not averaged to no difference.
const opposedAlpha = 0.1

// levelsMayDiffer reports whether levels contradict a mean without a difference: one level clearly, or two in
// opposite directions.
func (c *Comparison) levelsMayDiffer() bool {
	more, less := false, false
	for _, l := range c.Levels {
		r := InMetric(l.Results, c.Metric)
		if r == nil || r.P == nil || r.equivalent() {
			continue
		}
		if *r.P <= inference.Alpha {
			return true
		}
		more = more || *r.P <= opposedAlpha && *r.Ratio > 1
		less = less || *r.P <= opposedAlpha && *r.Ratio < 1
	}
	return more && less
}

// weigh applies the loads to their mean: loads with a winner are not averaged to no difference, and a
// winner of the other side makes a mean Mixed.
func (c *Comparison) weigh(all []Comparison) {
	if len(c.Loads) == 0 {
		return
	}
	decided, winners := false, c.winners(record.Point{})
	for k := range c.Loads {
		load := util.First(all, func(o *Comparison) bool { return o.Implementation == c.Implementation && o.Load == c.Loads[k].Load })
		c.Loads[k].Verdict = load.Verdict
		decided = decided || load.Verdict != NoDifference && load.Verdict != Inconclusive
		winners = append(winners, load.winners(record.Point{Load: load.Load})...)
	}
	if decided && c.Verdict == NoDifference {
		c.Verdict, c.Reason = DependsOnLoad, ""
	}
	c.weighAgainst(winners)
}

// Decided reports whether a result names a winner.
func (r *Result) Decided() bool { return r.Verdict == Better || r.Verdict == Worse }

func (r *Result) tested() bool {
	return r.FewestPairs >= MinBlocks && !r.ClosedLoop && (!r.ContenderIsBound || !r.BaselineIsBound)
}

func (r *Result) judge(contenderFailures, baselineFailures int, alpha float64) {
	r.Verdict, r.Reason = r.verdict(contenderFailures, baselineFailures, alpha)
	if r.Verdict != Inconclusive && r.OnlySuspect() {
		r.Verdict, r.Reason = Inconclusive, SuspectCells
	}
}

func (r *Result) verdict(contenderFailures, baselineFailures int, alpha float64) (Verdict, Reason) {
	switch {
	case r.ClosedLoop:
		return Inconclusive, ClosedLoopLatency
	case r.FewestPairs < MinBlocks && r.uncounted:
		return Inconclusive, CPUUncounted
	case r.FewestPairs < MinBlocks:
		return Inconclusive, TooFewBlocks
	case r.AdjustedP == nil && r.ContenderIsBound && r.BaselineIsBound:
		return Inconclusive, BoundsOnly
	case r.AdjustedP == nil:
		return Inconclusive, NeitherSustained
	case *r.AdjustedP > alpha || r.equivalent():
		return r.undecided(contenderFailures + baselineFailures)
	case r.better == record.UnknownDirection:
		return r.winner(Differs, false, contenderFailures+baselineFailures, 0)
	case *r.Ratio > 1 == r.moreIsBetter():
		return r.winner(Better, r.BaselineIsBound, contenderFailures, r.contenderCensored)
	}
	return r.winner(Worse, r.ContenderIsBound, baselineFailures, r.baselineCensored)
}

func (r *Result) moreIsBetter() bool {
	if r.better != "" {
		return r.better == record.MoreIsBetter
	}
	return r.Metric.MoreIsBetter()
}

func (r *Result) undecided(failures int) (Verdict, Reason) {
	switch {
	case r.ContenderIsBound || r.BaselineIsBound:
		return Inconclusive, BoundsOnly
	case !r.equivalent() && *r.P <= inference.Alpha:
		return Inconclusive, ManyComparisons
	case !r.equivalent():
		return Inconclusive, NoiseTooHigh
	case failures > 0:
		return Inconclusive, ImplementationFailures
	case r.contenderCensored+r.baselineCensored > 0:
		return Inconclusive, Censored
	case r.Diluted:
		return Inconclusive, Diluted
	case r.Hidden:
		return Inconclusive, HiddenByTool
	}
	return NoDifference, ""
}

// winner withholds a verdict if the loser is known only by a bound, or if the winner failed elsewhere or has censored
// values.
func (*Result) winner(v Verdict, loserIsBound bool, winnerFailures, winnerCensored int) (Verdict, Reason) {
	switch {
	case loserIsBound:
		return Inconclusive, BoundsOnly
	case winnerFailures > 0:
		return Inconclusive, ImplementationFailures
	case winnerCensored > 0:
		return Inconclusive, Censored
	}
	return v, ""
}

// equivalent reports whether the interval lies within the margin, which is symmetric in the ratio: 1/1.05 to 1.05.
func (r *Result) equivalent() bool {
	margin := math.Log1p(inference.EquivalenceMargin)
	return math.Log(*r.Low) >= -margin && math.Log(*r.High) <= margin
}

// AtLeast reports whether a verdict's difference is only a lower bound.
func (r Result) AtLeast(v Verdict) bool {
	return r.Diluted || v == Better && r.ContenderIsBound || v == Worse && r.BaselineIsBound
}
