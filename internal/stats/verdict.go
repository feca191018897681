package stats

import "math"

// judgeAll gives every result its verdict. The deciding results are one family, and the results beside them another.
func judgeAll(comparisons []Comparison, alpha float64) {
	for _, pick := range []func([]Result) *Result{deciding, beside} {
		var overall []*Result
		for k := range comparisons {
			overall = append(overall, pick(comparisons[k].Overall))
		}
		adjust(overall)
		for k := range comparisons {
			c := &comparisons[k]
			overall[k].judge(c.OwnFaults, c.BaselineFaults, alpha)
			judgeLevels(c, pick, overall[k].decided(), alpha)
		}
	}
	for k := range comparisons {
		comparisons[k].conclude()
	}
}

// judgeLevels judges one family of an implementation's levels. The gate is open if the mean over the levels has decided, or if
// the levels contradict each other.
func judgeLevels(c *Comparison, pick func([]Result) *Result, open bool, alpha float64) {
	var levels []*Result
	for k := range c.Levels {
		levels = append(levels, pick(c.Levels[k].Results))
	}
	adjust(levels)
	var faster, slower bool
	for k, r := range levels {
		r.judge(c.Levels[k].OwnFaults, c.Levels[k].BaselineFaults, alpha)
		faster, slower = faster || r.Verdict == Faster, slower || r.Verdict == Slower
	}
	if open || (faster && slower) {
		return
	}
	for _, r := range levels {
		if r.decided() {
			r.Verdict, r.Reason, r.Factor = Inconclusive, OverallUndecided, nil
		}
	}
}

// conclude copies what counts to the comparison itself.
func (c *Comparison) conclude() {
	d := deciding(c.Overall)
	c.Verdict, c.Reason, c.Metric, c.Disagrees = d.Verdict, d.Reason, d.Metric, opposite(d, beside(c.Overall))
	var faster, slower bool
	for k := range c.Levels {
		l := &c.Levels[k]
		d := deciding(l.Results)
		l.Verdict, l.Reason, l.Metric, l.Disagrees = d.Verdict, d.Reason, d.Metric, opposite(d, beside(l.Results))
		faster, slower = faster || l.Verdict == Faster, slower || l.Verdict == Slower
	}
	c.Crossing = faster && slower
}

func opposite(a, b *Result) bool {
	return (a.Verdict == Faster && b.Verdict == Slower) || (a.Verdict == Slower && b.Verdict == Faster)
}

// decided says whether a result names a winner.
func (r *Result) decided() bool { return r.Verdict == Faster || r.Verdict == Slower }

// tested says whether a result takes part in its family: it must be able to get a verdict at all. What excludes it is how much
// was measured and who was the bottleneck, never the outcome.
func (r *Result) tested() bool {
	return r.Blocks >= MinBlocks && (!r.ContenderIsBound || !r.BaselineIsBound)
}

// adjust applies Holm's correction to one family.
func adjust(family []*Result) {
	var members []*Result
	var ps []float64
	for _, r := range family {
		if r.tested() {
			members, ps = append(members, r), append(ps, *r.P)
		}
	}
	for k, p := range holm(ps) {
		members[k].AdjustedP = &p
	}
}

// judge decides one result.
func (r *Result) judge(ownFaults, baselineFaults int, alpha float64) {
	r.Verdict, r.Reason = r.verdict(ownFaults, baselineFaults, alpha)
	switch r.Verdict {
	case Faster:
		r.Factor = &r.Advantage.Ratio
	case Slower:
		r.Factor = inverse(&r.Advantage.Ratio)
	case NoDifference, Inconclusive:
	}
	if r.Verdict != Inconclusive || (r.Reason != TooFewBlocks && r.Reason != NoiseTooHigh) {
		r.BlocksNeeded = 0
	}
}

func (r *Result) verdict(ownFaults, baselineFaults int, alpha float64) (Verdict, VerdictReason) {
	bound := r.ContenderIsBound || r.BaselineIsBound
	switch {
	case r.Blocks < MinBlocks:
		return Inconclusive, TooFewBlocks
	case r.AdjustedP == nil:
		return Inconclusive, BoundsOnly
	case *r.AdjustedP > alpha && r.equivalent() && !bound:
		return NoDifference, ""
	case *r.AdjustedP > alpha && bound:
		return Inconclusive, BoundsOnly
	case *r.AdjustedP > alpha && *r.P <= alpha:
		return Inconclusive, ManyComparisons
	case *r.AdjustedP > alpha:
		return Inconclusive, NoiseTooHigh
	case r.Advantage.Ratio > 1:
		return winner(Faster, r.BaselineIsBound, ownFaults)
	}
	return winner(Slower, r.ContenderIsBound, baselineFaults)
}

// winner withholds a verdict whose loser was only seen through a lower bound, or whose winner failed elsewhere by its own fault.
func winner(v Verdict, loserIsBound bool, winnerFaults int) (Verdict, VerdictReason) {
	switch {
	case loserIsBound:
		return Inconclusive, BoundsOnly
	case winnerFaults > 0:
		return Inconclusive, OwnFaults
	}
	return v, ""
}

// equivalent says whether the interval lies within the margin, which is symmetric in the ratio: from 1/1.05 to 1.05.
func (r *Result) equivalent() bool {
	margin := math.Log1p(EquivalenceMargin)
	return math.Log(*r.Low) >= -margin && math.Log(*r.High) <= margin
}
