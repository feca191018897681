package verdict

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// judgeAll gives every result its verdict, within the budget that family.go shares out: alpha is that of one analysis. Foresight, which takes
// most of the time, is what could be found and how many blocks would do.
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

// pointers are the addresses of results.
func pointers(results []Result) []*Result {
	var out []*Result
	for k := range results {
		out = append(out, &results[k])
	}
	return out
}

// rateAlpha is what each level with an imposed rate may err by, of each contender and each analysis.
func rateAlpha(comparisons []Comparison, alpha float64) float64 {
	levels := 0
	for _, c := range comparisons {
		for _, l := range c.Levels {
			levels += asInt(l.Rate != nil)
		}
	}
	return ratesAlpha * alpha / Alpha / float64(max(levels, 1))
}

// judge decides the results of a comparison and its levels. The level of a load that has one is the load.
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
}

// judge decides the results of a level. Who does not sustain an imposed rate that the other sustains has lost, whatever the ratios are.
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

// contenderSustains and baselineSustains report whether a side sustains a rate: in most of its blocks, and in the others nearly. A tool's
// pause, which takes a few arrivals in a hundred from whom it serves, leaves that verdict as it is; a server at its limit does not sustain
// its rate.
func (k RateCounts) contenderSustains() bool {
	return k.ContenderMissed == 0 && k.ContenderSustained > k.ContenderNearly
}

func (k RateCounts) baselineSustains() bool {
	return k.BaselineMissed == 0 && k.BaselineSustained > k.BaselineNearly
}

// lostRate reports whether a side that missed a rate alone in some blocks, and sustained it in others, does not sustain it: in most blocks,
// in MinBlocks at least, and in more than chance would let it with a probability of alpha.
func lostRate(missed, sustained int, alpha float64) bool {
	return missed >= MinBlocks && missed > sustained && inference.OneSided(missed+sustained, missed) <= alpha
}

// rateVerdict withholds the verdict that a side sustained a rate if it failed otherwise.
func rateVerdict(v Verdict, failures int) (Verdict, Reason) {
	if failures > 0 {
		return Inconclusive, ImplementationFailures
	}
	return v, RateNotSustained
}

// Failures counts what either side lost by its own failures, rates that were not sustained included.
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

// NeitherSustained reports whether neither side sustained the level's rate, so that there is nothing to compare there.
func (l *LevelComparison) NeitherSustained() bool {
	return l.Rate != nil && l.Rate.ContenderMissed >= MinBlocks && l.Rate.BaselineMissed >= MinBlocks && l.Rate.ContenderSustained == 0 && l.Rate.BaselineSustained == 0
}

// concludeLevels lets the levels speak: those that have different winners are never averaged to one, nor to no difference, and a rate that was
// not sustained loses the load where nothing speaks for the loser.
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

// in is the level's verdict in a metric, or that of a rate that was not sustained: verdicts of different metrics do not contradict each other.
func (l LevelComparison) in(m Metric) Verdict {
	r := InMetric(l.Results, m)
	if l.Reason == RateNotSustained || r == nil {
		return l.Verdict
	}
	return r.Verdict
}

// opposedAlpha: two levels that point in opposite directions with so small a p are not averaged to no difference.
const opposedAlpha = 0.1

// levelsMayDiffer reports whether levels that are not known to be alike contradict a mean without a difference: one alone clearly, or two in
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

// weigh lets the loads speak in the mean over all of them: loads with a winner are not averaged to no difference. The weights are the user's, so
// that a mean with a winner stays one; the loads that say otherwise stand beside it.
func (c *Comparison) weigh(all []Comparison) {
	decided := false
	for k := range c.Loads {
		load := util.First(all, func(o *Comparison) bool { return o.Implementation == c.Implementation && o.Load == c.Loads[k].Load })
		c.Loads[k].Verdict = load.Verdict
		decided = decided || load.Verdict == Better || load.Verdict == Worse || load.Verdict == DependsOnLoad
	}
	if decided && c.Verdict == NoDifference {
		c.Verdict, c.Reason = DependsOnLoad, ""
	}
}

// Decided reports whether a result names a winner.
func (r *Result) Decided() bool { return r.Verdict == Better || r.Verdict == Worse }

// tested reports whether a result takes part in its family: it must be able to get a verdict at all. What excludes it is how much
// was measured and who was the bottleneck, never the outcome.
func (r *Result) tested() bool {
	return r.FewestPairs >= MinBlocks && (!r.ContenderIsBound || !r.BaselineIsBound)
}

// judge decides one result.
func (r *Result) judge(contenderFailures, baselineFailures int, alpha float64) {
	r.Verdict, r.Reason = r.verdict(contenderFailures, baselineFailures, alpha)
}

func (r *Result) verdict(contenderFailures, baselineFailures int, alpha float64) (Verdict, Reason) {
	switch {
	case r.FewestPairs < MinBlocks:
		return Inconclusive, TooFewBlocks
	case r.AdjustedP == nil && r.ContenderIsBound && r.BaselineIsBound:
		return Inconclusive, BoundsOnly
	case r.AdjustedP == nil:
		return Inconclusive, NeitherSustained
	case *r.AdjustedP > alpha:
		return r.undecided(contenderFailures + baselineFailures)
	case *r.Ratio > 1 == r.moreIsBetter():
		return r.winner(Better, r.BaselineIsBound, contenderFailures, r.contenderCensored)
	}
	return r.winner(Worse, r.ContenderIsBound, baselineFailures, r.baselineCensored)
}

// moreIsBetter reports whether a ratio above 1 speaks for the contender.
func (r *Result) moreIsBetter() bool {
	if r.better != "" {
		return r.better == record.MoreIsBetter
	}
	return r.Metric.MoreIsBetter()
}

// undecided returns why nobody has won, or that there is no difference.
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

// winner withholds a verdict whose loser was only seen through a bound, or whose winner failed elsewhere or has values
// beyond all that is known.
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

// equivalent reports whether the interval lies within the margin, which is symmetric in the ratio: from 1/1.05 to 1.05.
func (r *Result) equivalent() bool {
	margin := math.Log1p(inference.EquivalenceMargin)
	return math.Log(*r.Low) >= -margin && math.Log(*r.High) <= margin
}

// AtLeast reports whether a verdict rests on a difference that is only a lower bound.
func (r Result) AtLeast(v Verdict) bool {
	return r.Diluted || v == Better && r.ContenderIsBound || v == Worse && r.BaselineIsBound
}
