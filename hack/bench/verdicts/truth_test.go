package verdicts

import (
	"math"
	"testing"

	"loadstone.dev/loadstone/internal/verdict"
)

func TestWhatIsFalse(t *testing.T) {
	level := func(v verdict.Verdict) verdict.LevelComparison {
		return verdict.LevelComparison{Verdict: v, Results: []verdict.Result{{Verdict: verdict.Inconclusive}}}
	}
	run := func(load verdict.Verdict, levels ...verdict.Verdict) verdict.Comparison {
		c := verdict.Comparison{Verdict: load, Overall: []verdict.Result{{Verdict: verdict.Inconclusive}}}
		for _, v := range levels {
			c.Levels = append(c.Levels, level(v))
		}
		return c
	}
	const none = verdict.Inconclusive
	for name, tc := range map[string]struct {
		effects []float64
		said    verdict.Comparison
		want    tally
	}{
		"nothing is said of equals":               {[]float64{0, 0}, run(none, none, none), tally{}},
		"equals are called so":                    {[]float64{0, 0}, run(verdict.NoDifference, verdict.NoDifference, none), tally{}},
		"a winner among equals":                   {[]float64{0, 0}, run(verdict.Better, none, none), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"a winner at an equal level":              {[]float64{0.1, 0}, run(none, none, verdict.Worse), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"a mean that differs as one level does":   {[]float64{0.1, 0}, run(verdict.Worse, verdict.Worse, none), tally{decidedRuns: 1}},
		"the wrong winner":                        {[]float64{0.1, 0.1}, run(verdict.Better, none, none), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"no difference where there is one":        {[]float64{0.1, 0}, run(none, verdict.NoDifference, none), tally{equals: 1, falseRuns: 1}},
		"no difference within the margin":         {[]float64{0.04, 0.04}, run(verdict.NoDifference, none, none), tally{}},
		"no difference over levels that cross":    {[]float64{0.1, -0.1}, run(verdict.NoDifference, none, none), tally{equals: 1, falseRuns: 1}},
		"a single winner where the mean is 0":     {[]float64{0.1, -0.1}, run(verdict.Better, none, none), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"levels that cross have winners":          {[]float64{0.1, -0.1}, run(verdict.DependsOnLoad, verdict.Worse, verdict.Better), tally{decidedRuns: 1}},
		"the load decides where one level is off": {[]float64{0.1, 0}, run(verdict.DependsOnLoad, verdict.Worse, none), tally{depends: 1, falseRuns: 1, decidedRuns: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := tally{world: world{effects: [][]float64{tc.effects}}}
			got.see([]verdict.Comparison{tc.said})
			if got.winners != tc.want.winners || got.equals != tc.want.equals || got.depends != tc.want.depends ||
				got.falseRuns != tc.want.falseRuns || got.decidedRuns != tc.want.decidedRuns {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWhatAnIntervalHolds(t *testing.T) {
	low, high := 1.05, 1.15
	for name, tc := range map[string]struct {
		metric verdict.Metric
		effect float64
		want   int
	}{
		"the cost that is true":             {verdict.CPUPerRequest, math.Log(1.1), 1},
		"equality, which is not":            {verdict.CPUPerRequest, 0, 0},
		"a throughput that grew by as much": {verdict.Throughput, -math.Log(1.1), 1},
		"and not one that fell":             {verdict.Throughput, math.Log(1.1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			var c covered
			c.see(verdict.Result{Metric: tc.metric, Low: &low, High: &high}, tc.effect)
			if c.of != 1 || c.hold != tc.want {
				t.Errorf("%d of %d, want %d", c.hold, c.of, tc.want)
			}
		})
	}
}

func TestUpperBound(t *testing.T) {
	for name, tc := range map[string]struct {
		k, n int
		want float64
	}{
		"none of 59 is the rule of three": {0, 59, 1 - math.Pow(0.05, 1.0/59)},
		"all":                             {5, 5, 1},
		"100 of 10,000":                   {100, 10_000, 0.011797},
	} {
		t.Run(name, func(t *testing.T) {
			if got := upperBound(tc.k, tc.n); math.Abs(got-tc.want) > 1e-5 {
				t.Errorf("got %f, want %f", got, tc.want)
			}
		})
	}
}
