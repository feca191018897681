package scaling

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func swept(connections []int32, blocks int, rate func(n float64, level, block int) float64) (planned.Run, []validity.Group) {
	p := planned.Run{Baseline: "go", Implementations: []planned.Implementation{{Name: "go", Role: record.RoleContender, Baseline: true, CPUs: 1}}}
	for _, c := range connections {
		p.Levels = append(p.Levels, planned.Level{Point: record.Point{Load: "sweep", Connections: c}})
	}
	var groups []validity.Group
	for level, l := range p.Levels {
		g := validity.Group{Point: l.Point, Implementation: "go", Role: record.RoleContender}
		var rates []float64
		for block := range blocks {
			r := rate(float64(l.Connections), level, block)
			rates = append(rates, r)
			g.Cells = append(g.Cells, validity.Cell{Block: int32(block + 1), Validity: validity.Valid, Values: measured.Values{Throughput: &r}})
		}
		g.Throughput = inference.Summarise(rates)
		groups = append(groups, g)
	}
	return p, groups
}

// curve is a server with noise of each block, shared by its levels, and of each cell.
func curve(u inference.USL, noise float64, seed uint64) func(float64, int, int) float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	shared := map[int]float64{}
	return func(n float64, _, block int) float64 {
		if _, ok := shared[block]; !ok {
			shared[block] = rng.NormFloat64() * noise
		}
		return u.At(n) * math.Exp(shared[block]+rng.NormFloat64()*noise)
	}
}

var (
	eightLevels = []int32{1, 2, 4, 8, 16, 32, 64, 128}
	// planted peaks at √(0.95/0.002) = 21.8 connections.
	planted = inference.USL{Lambda: 20_000, Sigma: 0.05, Kappa: 0.002}
)

func scaleOf(connections []int32, blocks int, rate func(float64, int, int) float64, change func([]validity.Group)) Result {
	p, groups := swept(connections, blocks, rate)
	if change != nil {
		change(groups)
	}
	return Of(p, groups, 7)[0]
}

func boundFrom(connections int32) func([]validity.Group) {
	return func(groups []validity.Group) {
		for g := range groups {
			groups[g].ThroughputIsBound = groups[g].Connections >= connections
		}
	}
}

func TestWhereTheThroughputEndsToRise(t *testing.T) {
	flat := func(_ float64, level, block int) float64 { return 1000 * (1 + 0.01*float64((block+level)%3-1)) }
	rising := func(n float64, level, block int) float64 { return n * flat(n, level, block) }
	upTo := func(most float64) func(float64, int, int) float64 {
		return func(n float64, level, block int) float64 { return min(n, most) * flat(n, level, block) }
	}
	for name, tc := range map[string]struct {
		connections []int32
		blocks      int
		rate        func(float64, int, int) float64
		change      func([]validity.Group)
		want        Outcome
		from, to    int32
		reason      verdict.Reason
	}{
		"it rises to the end":                                   {eightLevels, 10, rising, nil, NotReached, 128, 0, ""},
		"it never rises":                                        {eightLevels, 10, flat, nil, SaturatedAtOrBelowFirst, 0, 1, ""},
		"it rises up to a level":                                {eightLevels, 10, upTo(10), nil, SaturatesBetween, 8, 16, ""},
		"it rises at the last of two levels":                    {[]int32{10, 100}, 10, rising, nil, NotReached, 100, 0, ""},
		"it does not rise between two levels":                   {[]int32{10, 100}, 10, flat, nil, SaturatedAtOrBelowFirst, 0, 10, ""},
		"two blocks have no noise to tell":                      {eightLevels, 2, rising, nil, Unclear, 0, 0, verdict.TooFewBlocks},
		"noise hides whether it rises":                          {[]int32{10, 20}, 10, curve(inference.USL{Lambda: 1000, Sigma: 0.5}, 0.4, 1), nil, Unclear, 0, 0, verdict.NoiseTooHigh},
		"a rise not worth the name is none":                     {[]int32{10, 100}, 10, func(n float64, _, block int) float64 { return math.Pow(n, 0.03) * (1 + 1e-6*float64(block%3)) }, nil, SaturatedAtOrBelowFirst, 0, 10, ""},
		"the generator is the limit from the first level on":    {eightLevels, 10, flat, boundFrom(1), GeneratorLimited, 0, 0, ""},
		"the generator is the limit from a level on":            {eightLevels, 10, upTo(10), boundFrom(16), GeneratorLimited, 0, 0, ""},
		"the generator is the limit at the last level":          {eightLevels, 10, rising, boundFrom(128), GeneratorLimited, 0, 0, ""},
		"the server was at its limit before the generator was":  {eightLevels, 10, upTo(3), boundFrom(64), SaturatesBetween, 2, 4, ""},
		"a bound above a level shows that this was not the end": {[]int32{1, 2, 4}, 10, func(n float64, l, b int) float64 { return max(2, n) * flat(n, l, b) }, boundFrom(4), GeneratorLimited, 0, 0, ""},
		"a curve with a peak":                                   {eightLevels, 10, curve(planted, 0.05, 1), nil, Knee, 8, 16, ""},
		"a plateau has no peak, whatever the law says":          {eightLevels, 10, func(n float64, l, b int) float64 { return min(n, 10) * flat(n, l, b) * (1 - n/2000) }, nil, SaturatesBetween, 8, 16, ""},
		"a peak among four levels is a stretch":                 {[]int32{1, 8, 32, 128}, 10, curve(planted, 0.02, 1), nil, SaturatesBetween, 8, 32, ""},
		"a peak without level 1 is a stretch":                   {[]int32{2, 4, 8, 16, 32, 64, 128, 256}, 10, curve(planted, 0.01, 1), nil, SaturatesBetween, 8, 16, ""},
		"six blocks are too few for a fitted peak":              {eightLevels, 6, curve(planted, 0.01, 1), nil, SaturatesBetween, 8, 16, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := scaleOf(tc.connections, tc.blocks, tc.rate, tc.change)
			if got.Outcome != tc.want || got.Reason != tc.reason || got.From != tc.from || got.To != tc.to {
				t.Errorf("%s %s from %d to %d, want %s %s from %d to %d", got.Outcome, got.Reason, got.From, got.To, tc.want, tc.reason, tc.from, tc.to)
			}
			if (got.Knee != nil) != (tc.want == Knee) || (got.Fit != nil) != (tc.want == Knee) {
				t.Errorf("knee %+v, fit %+v", got.Knee, got.Fit)
			}
		})
	}
}

func TestPlantedParametersAreRecovered(t *testing.T) {
	const runs = 30
	found, covered := 0, 0
	for seed := range uint64(runs) {
		p, groups := swept(eightLevels, 10, curve(planted, 0.05, seed))
		s := Of(p, groups, seed)[0]
		if s.Outcome != Knee {
			continue
		}
		found++
		want := planted.Peak()
		if math.Abs(s.Fit.Lambda/planted.Lambda-1) > 0.15 || math.Abs(s.Fit.Sigma-planted.Sigma) > 0.04 || math.Abs(s.Fit.Kappa/planted.Kappa-1) > 0.4 || s.Fit.R2 < 0.95 {
			t.Errorf("run %d: planted %+v, found %+v", seed, planted, *s.Fit)
		}
		if s.Knee.Low <= want && want <= s.Knee.High {
			covered++
		}
		if s.Knee.Low < want/2 || s.Knee.High > want*2 {
			t.Errorf("run %d: the knee %+v says too little of %v", seed, *s.Knee, want)
		}
	}
	t.Logf("%d of %d runs found the knee, %d of their intervals hold it", found, runs, covered)
	if found < runs*9/10 || covered < found*95/100 {
		t.Errorf("%d of %d runs found the knee, %d of their intervals hold it", found, runs, covered)
	}
}

func TestFourLevelsNeverGiveAKnee(t *testing.T) {
	for seed := range uint64(50) {
		if s := scaleOf([]int32{1, 8, 32, 128}, 10, curve(planted, 0.05, seed), nil); s.Knee != nil {
			t.Errorf("run %d: a knee %+v from four levels", seed, *s.Knee)
		}
	}
}

func TestTheAsymptoticEstimateNeedsLevelOneAndAServerAtItsLimit(t *testing.T) {
	upTo10 := func(n float64, _, _ int) float64 { return 1000 * min(n, 10) }
	if s := scaleOf(eightLevels, 7, upTo10, nil); s.Asymptotic == nil || math.Abs(s.Asymptotic.Value-10) > 1e-9 || s.Asymptotic.N != 7 {
		t.Errorf("estimate %+v, want 10 from 7 blocks", s.Asymptotic)
	}
	if s := scaleOf([]int32{2, 16, 128}, 7, upTo10, nil); s.Asymptotic != nil {
		t.Errorf("estimate %+v without level 1", *s.Asymptotic)
	}
	if s := scaleOf(eightLevels, 7, upTo10, boundFrom(64)); s.Asymptotic != nil {
		t.Errorf("estimate %+v where the largest throughput is only a bound", *s.Asymptotic)
	}
	p, groups := swept(eightLevels, 7, upTo10)
	for i := range p.Levels {
		p.Levels[i].StreamsPerConnection = 10
	}
	if s := Of(p, groups, 7)[0]; s.Asymptotic != nil || s.Outcome != SaturatesBetween {
		t.Errorf("connections of 10 streams give %+v", s)
	}
}

func TestSeveralStreamsHaveAPeakAndNoFittedCurve(t *testing.T) {
	p, groups := swept(eightLevels, 10, curve(planted, 0.05, 4))
	one := Of(p, groups, 7)[0]
	for i := range p.Levels {
		p.Levels[i].StreamsPerConnection = 10
	}
	several := Of(p, groups, 7)[0]
	if one.Knee == nil || one.Fit == nil || several.Outcome != Knee || several.Knee == nil || *several.Knee != *one.Knee {
		t.Fatalf("one stream gives %+v, several give %+v", one, several)
	}
	if several.Fit != nil || several.Points[0].Residual != nil {
		t.Errorf("several streams give a curve %+v", several)
	}
}

func TestScalingIsTheSameEachTime(t *testing.T) {
	a, b := scaleOf(eightLevels, 10, curve(planted, 0.05, 4), nil), scaleOf(eightLevels, 10, curve(planted, 0.05, 4), nil)
	if *a.Knee != *b.Knee {
		t.Errorf("knees %+v and %+v", *a.Knee, *b.Knee)
	}
}

func TestSearchesAndRatesAreNoSweeps(t *testing.T) {
	at := func(load string, connections, rate, step int32) planned.Level {
		return planned.Level{Point: record.Point{Load: load, Connections: connections, RequestsPerSecond: rate, Step: step}}
	}
	got := sweeps([]planned.Level{at("a", 100, 0, 0), at("a", 10, 0, 0), at("b", 5, 0, 0), at("c", 5, 100, 0), at("c", 5, 200, 0), at("d", 5, 0, 1), at("d", 5, 0, 2)})
	if len(got) != 1 || len(got[0]) != 2 || got[0][0].Connections != 10 {
		t.Errorf("sweeps %+v", got)
	}
}

func BenchmarkPeakInterval(b *testing.B) {
	p, groups := swept(eightLevels, 10, curve(planted, 0.05, 1))
	for b.Loop() {
		Of(p, groups, 1)
	}
}
