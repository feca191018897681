package capacity

import (
	"math"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/search"
)

func kept(rate int32) validity.Step {
	return validity.Step{Rate: rate, Met: true, Validity: validity.Valid}
}

func missed(rate int32) validity.Step {
	return validity.Step{Rate: rate, Why: "late", Validity: validity.Valid}
}

func void(s validity.Step) validity.Step {
	s.Validity = validity.Void
	return s
}

func limited(s validity.Step) validity.Step {
	s.GeneratorLimited = true
	return s
}

func TestWhatTheStepsOfASearchAreWorth(t *testing.T) {
	number := func(rate float64) *float64 { return &rate }
	for name, tc := range map[string]struct {
		steps []validity.Step
		// wrong: the server met the bound with wrong answers.
		wrong bool
		want  Trial
	}{
		"no step": {nil, false, Trial{Result: search.NotTried}},
		"a rate sustained below one missed": {
			[]validity.Step{kept(500), kept(1000), missed(2000)}, false, Trial{Result: search.Found, Rate: number(1000)},
		},
		"no rate missed is a lower bound": {
			[]validity.Step{kept(500), kept(1000)}, false, Trial{Result: search.NotReached, Rate: number(1000), Bound: NotReached},
		},
		"no rate sustained is the implementation's fault": {
			[]validity.Step{missed(500), missed(250)}, false, Trial{Result: search.BelowStart, ImplementationFailure: true},
		},
		"no rate sustained, the lowest by a busy generator": {
			[]validity.Step{missed(500), limited(missed(250))}, false, Trial{Result: search.BelowStart, Unusable: true},
		},
		"no rate sustained, the lowest beside noisy neighbours": {
			[]validity.Step{missed(500), void(missed(250))}, false, Trial{Result: search.BelowStart, Unusable: true},
		},
		"no rate sustained, a higher one beside noisy neighbours": {
			[]validity.Step{void(missed(500)), missed(250)}, false, Trial{Result: search.BelowStart, ImplementationFailure: true},
		},
		"the highest rate sustained by a void step alone": {
			[]validity.Step{kept(500), void(kept(1000)), missed(2000)}, false, Trial{Result: search.Found, Unusable: true},
		},
		"the highest rate sustained by a void step and a good one": {
			[]validity.Step{kept(1000), void(kept(1000)), missed(2000)}, false, Trial{Result: search.Found, Rate: number(1000)},
		},
		"the highest rate sustained by wrong answers": {
			[]validity.Step{kept(500), void(kept(1000)), missed(2000)}, true, Trial{Result: search.Found, Unusable: true, ImplementationFailure: true},
		},
		"a void step below the highest rate sustained": {
			[]validity.Step{void(kept(500)), kept(1000), missed(2000)}, false, Trial{Result: search.Found, Rate: number(1000)},
		},
		"the lowest rate missed by a busy generator": {
			[]validity.Step{kept(1000), limited(missed(2000))}, false, Trial{Result: search.Found, Rate: number(1000), Bound: GeneratorLimited},
		},
		"the lowest rate missed beside noisy neighbours": {
			[]validity.Step{kept(1000), void(missed(2000))}, false, Trial{Result: search.Found, Rate: number(1000), Bound: Disturbed},
		},
		"the lowest rate missed by a busy generator beside noisy neighbours": {
			[]validity.Step{kept(1000), limited(void(missed(2000)))}, false, Trial{Result: search.Found, Rate: number(1000), Bound: GeneratorLimited},
		},
		"the lowest rate missed by a busy generator, and once more by itself": {
			[]validity.Step{kept(1000), limited(missed(2000)), missed(2000)}, false, Trial{Result: search.Found, Rate: number(1000)},
		},
		"a higher rate missed by a busy generator": {
			[]validity.Step{kept(1000), limited(missed(4000)), missed(2000)}, false, Trial{Result: search.Found, Rate: number(1000)},
		},
		"a generator that is busy where the bound is met": {
			[]validity.Step{limited(kept(1000)), missed(2000)}, false, Trial{Result: search.Found, Rate: number(1000)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Trial{Steps: tc.steps}
			got.conclude(tc.wrong)
			if got.Result != tc.want.Result || got.Bound != tc.want.Bound || got.Unusable != tc.want.Unusable || got.ImplementationFailure != tc.want.ImplementationFailure {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			if got.Rate == nil != (tc.want.Rate == nil) {
				t.Fatalf("got the rate %v, want %v", got.Rate, tc.want.Rate)
			}
			if got.Rate == nil {
				return
			}
			if exact := got.Bound != ""; got.bracket().Low != *tc.want.Rate || exact != (*got.Rate == *tc.want.Rate) || *got.Rate > max(*tc.want.Rate, float64(got.Lowest.Rate)) {
				t.Errorf("got the rate %v above %v, want %v as the lower end", *got.Rate, got.bracket(), *tc.want.Rate)
			}
		})
	}
}

func trialOf(block int32, steps ...validity.Step) Trial {
	t := Trial{Block: block, Steps: steps}
	t.conclude(false)
	return t
}

func TestASearchLiesBetweenTheRateKeptAndTheRateMissed(t *testing.T) {
	for name, tc := range map[string]struct {
		steps []validity.Step
		want  inference.Span
	}{
		"both are known":            {[]validity.Step{kept(1000), missed(1210), missed(1210), kept(1000)}, inference.Span{Low: 1000, Mid: 1100, High: 1210}},
		"no rate was missed":        {[]validity.Step{kept(1000)}, inference.Exactly(1000)},
		"a miss of the generator's": {[]validity.Step{kept(1000), limited(missed(1210))}, inference.Exactly(1000)},
	} {
		t.Run(name, func(t *testing.T) {
			got := trialOf(1, tc.steps...).bracket()
			if got.Low != tc.want.Low || math.Abs(got.Mid-tc.want.Mid) > 10 || got.High != tc.want.High {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWhatAllSearchesSayTogether(t *testing.T) {
	// found is a search that knows its capacity to 4 %.
	found := func(block, rate int32) Trial {
		return trialOf(block, kept(rate*98/100), missed(rate*102/100), kept(rate*98/100), missed(rate*102/100))
	}
	for name, tc := range map[string]struct {
		trials []Trial
		// wantMean is the geometric mean; 0 for none.
		wantMean                                                                  float64
		wantFound, wantBelow, wantNotReached, wantNotTried, wantUnusable, wantOwn int
		wantBound, wantLow, wantHigh                                              bool
	}{
		"no trial": {},
		"two have a mean and no interval": {
			trials: []Trial{found(1, 100), found(2, 400)}, wantMean: 200, wantFound: 2,
		},
		"three have an interval": {
			trials: []Trial{found(1, 100), found(2, 200), found(3, 400)}, wantMean: 200, wantFound: 3, wantLow: true, wantHigh: true,
		},
		"of lower bounds the upper end is open": {
			trials: []Trial{found(1, 100), trialOf(2, kept(200)), found(3, 400)}, wantMean: 200, wantFound: 2, wantNotReached: 1, wantBound: true, wantLow: true,
		},
		"trials without a number count by what came of them": {
			trials:   []Trial{found(1, 300), trialOf(2, missed(500)), trialOf(3), trialOf(4, void(kept(100)), missed(200)), trialOf(5, void(missed(100)))},
			wantMean: 300, wantFound: 1, wantBelow: 1, wantNotTried: 1, wantUnusable: 2, wantOwn: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := Capacity{Trials: tc.trials}
			c.summarise(nil)
			counts := []int{c.Found, c.BelowStart, c.NotReached, c.NotTried, c.Unusable, c.ImplementationFailures}
			if want := []int{tc.wantFound, tc.wantBelow, tc.wantNotReached, tc.wantNotTried, tc.wantUnusable, tc.wantOwn}; !slices.Equal(counts, want) {
				t.Errorf("found, below the start, not reached, not tried, unusable, implementation failures: got %v, want %v", counts, want)
			}
			if c.IsBound != tc.wantBound {
				t.Errorf("a lower bound: got %v, want %v", c.IsBound, tc.wantBound)
			}
			if c.Rate == nil {
				if tc.wantMean != 0 {
					t.Errorf("there is no rate, want %g", tc.wantMean)
				}
				return
			}
			if math.Abs(c.Rate.Mean/tc.wantMean-1) > 0.01 || c.Rate.Low != nil != tc.wantLow || c.Rate.High != nil != tc.wantHigh {
				t.Errorf("got %+v, want a mean of %g, a low end: %v, a high one: %v", *c.Rate, tc.wantMean, tc.wantLow, tc.wantHigh)
			}
		})
	}
}

func TestAFindingNamesEachBlockOnce(t *testing.T) {
	c := Capacity{}
	reasons := []validity.Reason{{Code: validity.NoisyNeighbours, Weight: validity.Suspect, Value: 0.1}}
	c.summarise([]validity.Cell{{Block: 1, Reasons: reasons}, {Block: 1, Reasons: reasons}, {Block: 3, Reasons: reasons}})
	if len(c.Findings) != 1 || !slices.Equal(c.Findings[0].Blocks, []int32{1, 3}) {
		t.Errorf("got %+v, want one finding in the blocks 1 and 3", c.Findings)
	}
}

func TestCapacitiesAreComparedByBlocks(t *testing.T) {
	base := []Trial{trialOf(1, kept(100)), trialOf(2, kept(100)), trialOf(3, kept(100))}
	for name, tc := range map[string]struct {
		own, base  []Trial
		wantBlocks []int32
		wantRatios []float64
		// These say whose numbers are lower bounds.
		wantOwnBound, wantBaseBound bool
	}{
		"a block that one of them lacks has no ratio": {
			[]Trial{trialOf(3, kept(400)), trialOf(1, kept(200)), trialOf(4, kept(900))}, base, []int32{1, 3}, []float64{2, 4}, true, true,
		},
		"a trial without a number has no ratio": {
			[]Trial{trialOf(1, missed(500)), trialOf(2, kept(300))}, base, []int32{2}, []float64{3}, true, true,
		},
		"nothing is left to compare": {[]Trial{trialOf(4, kept(100))}, base, nil, nil, false, false},
		"one is a lower bound, the other is not": {
			[]Trial{trialOf(1, kept(200))}, []Trial{trialOf(1, kept(99), kept(99), missed(102), missed(102))}, []int32{1}, []float64{2}, true, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := ratesByBlock(tc.own, tc.base)
			if len(r.Pairs) != len(tc.wantBlocks) {
				t.Fatalf("got %+v, want pairs in %v", r.Pairs, tc.wantBlocks)
			}
			for i, p := range r.Pairs {
				if p.Block != tc.wantBlocks[i] || math.Abs(p.Ratio/tc.wantRatios[i]-1) > 0.02 {
					t.Errorf("got %+v, want %g in block %d", p, tc.wantRatios[i], tc.wantBlocks[i])
				}
			}
			if !r.Decides || r.ContenderIsBound != tc.wantOwnBound || r.BaselineIsBound != tc.wantBaseBound {
				t.Errorf("decides: %v, lower bounds: %v and %v", r.Decides, r.ContenderIsBound, r.BaselineIsBound)
			}
		})
	}
}

func TestContendersAreComparedWithTheBaselineOfTheSameLoad(t *testing.T) {
	contender := func(name string, role record.Role) planned.Implementation {
		return planned.Implementation{Name: name, Role: role, Baseline: name == "base"}
	}
	p := planned.Run{Baseline: "base", Implementations: []planned.Implementation{
		contender("base", record.RoleContender), contender("new", record.RoleContender), contender("most", record.RoleReference),
	}}
	of := func(load, name string, rate int32) Capacity {
		return Capacity{Load: load, Implementation: name, Trials: []Trial{trialOf(1, kept(rate))}}
	}
	all := []Capacity{
		of("small", "base", 100), of("small", "new", 200), of("small", "most", 900),
		of("large", "base", 10), of("large", "new", 30), of("large", "most", 90),
	}
	all, _ = Compare(p, all)
	want := map[string]float64{"small": 2, "large": 3}
	for _, c := range all {
		switch {
		case c.Implementation != "new":
			if c.ToBaseline != nil {
				t.Errorf("%s is compared in %s: %+v", c.Implementation, c.Load, c.ToBaseline)
			}
		case c.ToBaseline == nil || math.Abs(*c.ToBaseline.Ratio-want[c.Load]) > 1e-9:
			t.Errorf("%s in %s: got %+v, want a ratio of %g", c.Implementation, c.Load, c.ToBaseline, want[c.Load])
		}
	}
}
