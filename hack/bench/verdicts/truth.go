package verdicts

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/verdict"
)

// tally counts what runs of a world say against what is true of it.
type tally struct {
	world world
	runs  int
	// falseRuns are those with any false sentence about a winner. Of them are those in which a result, a level or a load names one
	// (winners), calls two equal that differ by more than the margin (equals), or lets a load decide where no two levels differ in
	// direction (depends).
	falseRuns, winners, equals, depends int
	// means and levels are the intervals of the deciding metric, and how many of them hold the truth.
	means, levels covered
	// decidedRuns are those with any winner at all.
	decidedRuns int
}

type covered struct{ hold, of int }

func (c covered) share() float64 { return share(c.hold, c.of) }

func (c *covered) add(o covered) { c.hold, c.of = c.hold+o.hold, c.of+o.of }

// share is in per cent.
func share(k, n int) float64 { return 100 * float64(k) / float64(n) }

// upperBound is the one-sided upper bound of a share of which k of n were seen, at 95 %, by Clopper and Pearson.
func upperBound(k, n int) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

// add adds up two tallies of the same world.
func (t *tally) add(o tally) {
	t.runs, t.falseRuns, t.decidedRuns = t.runs+o.runs, t.falseRuns+o.falseRuns, t.decidedRuns+o.decidedRuns
	t.winners, t.equals, t.depends = t.winners+o.winners, t.equals+o.equals, t.depends+o.depends
	t.means.add(o.means)
	t.levels.add(o.levels)
}

// said is what one run says wrongly.
type said struct{ winner, equal, depends, decided bool }

// see judges one run.
func (t *tally) see(run []verdict.Comparison) {
	var wrong said
	for k, c := range run {
		var mean float64
		up, down := false, false
		for l := range c.Levels {
			effect := t.world.effect(k, l)
			mean += effect / float64(len(c.Levels))
			up, down = up || effect > 0, down || effect < 0
			wrong.verdict(c.Levels[l].Verdict, effect)
			wrong.results(c.Levels[l].Results, effect)
			t.levels.see(c.Levels[l].Deciding(), effect)
		}
		if math.Abs(mean) < 1e-12 {
			mean = 0
		}
		wrong.verdict(c.Verdict, mean)
		wrong.results(c.Overall, mean)
		wrong.depends = wrong.depends || falselyDepends(c, mean, up && down)
		wrong.equal = wrong.equal || c.Verdict == verdict.NoDifference && up && down
		t.means.see(c.Deciding(), mean)
	}
	t.runs++
	t.falseRuns += asInt(wrong.winner || wrong.equal || wrong.depends)
	t.winners, t.equals, t.depends = t.winners+asInt(wrong.winner), t.equals+asInt(wrong.equal), t.depends+asInt(wrong.depends)
	t.decidedRuns += asInt(wrong.decided)
}

// falselyDepends reports whether a verdict that depends on the load is false: where levels have different winners, there must be levels of
// either sign, and where all winners are one, the mean must be within the margin.
func falselyDepends(c verdict.Comparison, mean float64, crossing bool) bool {
	if c.Verdict != verdict.DependsOnLoad {
		return false
	}
	better, worse := false, false
	for _, l := range c.Levels {
		better, worse = better || l.Verdict == verdict.Better, worse || l.Verdict == verdict.Worse
	}
	if better && worse {
		return !crossing
	}
	return math.Abs(mean) > math.Log1p(inference.EquivalenceMargin)
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// verdict holds a verdict against the true effect: more cost is worse in every metric.
func (s *said) verdict(v verdict.Verdict, effect float64) {
	s.winner = s.winner || v == verdict.Better && effect >= 0 || v == verdict.Worse && effect <= 0
	s.equal = s.equal || v == verdict.NoDifference && math.Abs(effect) > math.Log1p(inference.EquivalenceMargin)
	s.decided = s.decided || v == verdict.Better || v == verdict.Worse || v == verdict.DependsOnLoad
}

func (s *said) results(list []verdict.Result, effect float64) {
	for _, r := range list {
		s.verdict(r.Verdict, effect)
	}
}

// see looks whether a result's interval holds the truth. One that has no interval says nothing.
func (c *covered) see(r verdict.Result, effect float64) {
	if r.Low == nil || r.High == nil {
		return
	}
	if r.Metric.MoreIsBetter() {
		effect = -effect
	}
	c.of++
	c.hold += asInt(math.Log(*r.Low) <= effect && effect <= math.Log(*r.High))
}
