package inference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sleep is Student's own example of 1908: the extra hours of sleep of ten patients by one drug over another.
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}

func within(tolerance float64) cmp.Option { return cmpopts.EquateApprox(0, tolerance) }

// logs are samples of blocks from 1; NaN leaves one out.
func logs(values ...float64) []Sample {
	var out []Sample
	for k, v := range values {
		if !math.IsNaN(v) {
			out = append(out, Sample{int32(k + 1), Exactly(v)})
		}
	}
	return out
}

func alone(values ...float64) Estimate { return NewEstimate([]Stratum{{1, logs(values...)}}) }

func TestOneLevelGivesTheTextbookAnswerOfThePairedT(t *testing.T) {
	got := alone(sleep...)
	low, high := got.Interval()
	// t = 4.0621 with 9 degrees of freedom; the 99 % interval is 1.58 ± 3.2498 * 0.38896.
	want := []float64{1.58, 0.3159, 2.8441, 0.002833}
	if diff := cmp.Diff(want, []float64{got.Mean, low, high, got.P()}, within(5e-5)); diff != "" {
		t.Errorf("mean, low, high, p (-want +got):\n%s", diff)
	}
}

func TestTQuantileIsThatOfTheTables(t *testing.T) {
	for name, tc := range map[string]struct{ p, freedom, want float64 }{
		"99 % interval of ten blocks":   {0.995, 9, 3.249836},
		"99 % interval of seven blocks": {0.995, 6, 3.707428},
		"99 % interval of three blocks": {0.995, 2, 9.924843},
		"power of 80 % at ten blocks":   {0.8, 9, 0.883404},
	} {
		t.Run(name, func(t *testing.T) {
			if got := TQuantile(tc.p, tc.freedom); math.Abs(got-tc.want) > 1e-5 {
				t.Errorf("tQuantile(%v, %v) = %v, want %v", tc.p, tc.freedom, got, tc.want)
			}
		})
	}
}

func TestFewPairsHaveNoInterval(t *testing.T) {
	if got := alone(0.1, 0.2); got.Known {
		t.Errorf("two pairs have an interval: %+v", got)
	}
	if got := NewEstimate([]Stratum{{0.5, logs(1, 2, 3, 4)}, {0.5, logs(1, 2)}}); got.Known || got.Fewest != 2 || got.Mean != 2 {
		t.Errorf("a level of two pairs has an interval: %+v", got)
	}
	if got := NewEstimate([]Stratum{{0.5, logs(1, 2, 3, 4)}, {0.5, nil}}); got.Known || got.Blocks != 0 {
		t.Errorf("a level without pairs has a mean: %+v", got)
	}
}

func TestEqualPairs(t *testing.T) {
	if got := alone(0, 0, 0); got.P() != 1 {
		t.Errorf("p of no difference at all is %v, want 1", got.P())
	}
	if got := alone(0.1, 0.1, 0.1); got.P() > 1e-9 {
		t.Errorf("p of a difference without noise is %v, want 0", got.P())
	}
}

func TestWholeBlocksGiveThePairedTOfTheirMeans(t *testing.T) {
	a, b := []float64{0.2, 0.5, -0.1, 0.3, 0.4}, []float64{0.1, 0.2, 0.3, -0.2, 0.6}
	var means []float64
	for k := range a {
		means = append(means, 0.25*a[k]+0.75*b[k])
	}
	got, want := NewEstimate([]Stratum{{0.25, logs(a...)}, {0.75, logs(b...)}}), alone(means...)
	if diff := cmp.Diff([]float64{want.Mean, want.SD, want.Freedom, want.P()}, []float64{got.Mean, got.SD, got.Freedom, got.P()}, within(1e-12)); diff != "" {
		t.Errorf("mean, sd, freedom, p (-want +got):\n%s", diff)
	}
	for k, s := range got.Contributions {
		if math.Abs(s.Mid-means[k]) > 1e-12 {
			t.Errorf("block %d adds %v, want its mean %v", s.Block, s.Mid, means[k])
		}
	}
}

func TestABlockThatLacksALevelCountsAtTheOthers(t *testing.T) {
	nan := math.NaN()
	got := NewEstimate([]Stratum{{0.5, logs(1, 1.2, 0.8, 1.1)}, {0.5, logs(-1, nan, -1.1, -0.9)}})
	if math.Abs(got.Mean-(1.025-1)/2) > 1e-12 || got.Blocks != 4 || got.Fewest != 3 || got.Freedom != 3 || got.Whole {
		t.Errorf("got %+v, want the mean of both levels, with the degrees of freedom that four blocks give", got)
	}
}

func TestWhatLiesBetweenTwoEndsIsNoMoreCertainThanThey(t *testing.T) {
	bracket := func(low, high float64) []Sample {
		var out []Sample
		for b := range int32(10) {
			out = append(out, Sample{b, Span{low, (low + high) / 2, high}})
		}
		return out
	}
	got := NewEstimate([]Stratum{{1, bracket(-0.01, 0.03)}})
	if low, high := got.Interval(); math.Abs(low+0.01) > 1e-12 || math.Abs(high-0.03) > 1e-12 || got.P() != 1 {
		t.Errorf("interval %v to %v, p %v; want -0.01 to 0.03 and 1", low, high, got.P())
	}
	if got := NewEstimate([]Stratum{{1, bracket(0.01, 0.03)}}); got.P() > 1e-9 {
		t.Errorf("p of brackets that all lie above 0 is %v, want 0", got.P())
	}
}

func TestSignFlip(t *testing.T) {
	for name, tc := range map[string]struct {
		logs []float64
		want float64
	}{
		"one value can only be mirrored":                          {[]float64{0.3}, 1},
		"all of one sign leave two patterns of eight":             {[]float64{1, 2, 3}, 0.25},
		"a sum of zero is never extreme":                          {[]float64{1, 2, -3}, 1},
		"eight of sixteen patterns reach four of ±1 ±1 ±1 ±3":     {[]float64{1, 1, -1, 3}, 0.5},
		"ten of one sign leave two patterns of 1,024":             {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2.0 / 1024},
		"ten equal logs are not lost to rounding of their sums":   {[]float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 2.0 / 1024},
		"mirrored values give the same answer as their originals": {[]float64{-1, -1, 1, -3}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SignFlip(logs(tc.logs...)); math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("signFlip(%v) = %v, want %v", tc.logs, got, tc.want)
			}
		})
	}
}

func TestSignFlipCountsEveryPattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		values := make([]float64, 2+rng.IntN(9))
		sum := 0.0
		for i := range values {
			values[i] = rng.NormFloat64() + 0.3
			sum += values[i]
		}
		extreme := 0
		for pattern := range 1 << len(values) {
			s := 0.0
			for i, v := range values {
				if pattern>>i&1 == 1 {
					v = -v
				}
				s += v
			}
			if math.Abs(s) >= math.Abs(sum)-1e-9 {
				extreme++
			}
		}
		want := float64(extreme) / float64(int(1)<<len(values))
		if got := SignFlip(logs(values...)); math.Abs(got-want) > 1e-12 {
			t.Errorf("signFlip(%v) = %v, want %v", values, got, want)
		}
	}
}

// TestFindsIsTheNoncentralT compares with drawn runs.
func TestFindsIsTheNoncentralT(t *testing.T) {
	const runs = 4000
	rng := rand.New(rand.NewPCG(9, 9))
	for name, tc := range map[string]struct {
		sd, difference, alpha float64
		n                     int
	}{
		"ten blocks":          {0.064, 0.08, 0.01, 10},
		"seven blocks":        {0.064, 0.12, 0.007, 7},
		"forty strict blocks": {0.064, 0.03, 0.0005, 40},
	} {
		t.Run(name, func(t *testing.T) {
			found, equal := 0, 0
			for range runs {
				values := make([]float64, tc.n)
				for k := range values {
					values[k] = tc.difference + tc.sd*rng.NormFloat64()
				}
				e := alone(values...)
				low, high := e.Interval()
				if e.P() <= tc.alpha {
					found++
				}
				if low > -math.Log1p(EquivalenceMargin) && high < math.Log1p(EquivalenceMargin) {
					equal++
				}
			}
			p := Prospect{SD: tc.sd, Alpha: tc.alpha}
			// Three standard errors of the share.
			if got, want := p.finds(tc.difference, p.measuredAs(tc.n)), float64(found)/runs; math.Abs(got-want) > 0.025 {
				t.Errorf("finds with probability %.3f, and %.3f of the runs do", got, want)
			}
			if got, want := p.equates(tc.difference, p.measuredAs(tc.n)), float64(equal)/runs; math.Abs(got-want) > 0.025 {
				t.Errorf("equates with probability %.3f, and %.3f of the runs do", got, want)
			}
		})
	}
}

func TestTheDetectableDifferenceIsFoundWithItsPower(t *testing.T) {
	p := Prospect{SD: 0.064, Alpha: 0.0042}
	d := p.Detectable(10)
	if got := p.finds(d, p.measuredAs(10)); math.Abs(got-Power) > 1e-3 {
		t.Errorf("%v is found with probability %v, want %v", d, got, Power)
	}
	wide := Prospect{SD: 0.064, Alpha: 0.0042, Width: 0.04}
	if got := wide.Detectable(10); math.Abs(got-d-0.02) > 1e-3 {
		t.Errorf("brackets of 0.04 make %v of %v, want 0.02 more", got, d)
	}
}

func TestBlocksNeededDecideWithTheirPower(t *testing.T) {
	for name, tc := range map[string]struct{ difference, sd float64 }{
		"no difference":       {0, 0.064},
		"a small one":         {0.02, 0.064},
		"one at the margin":   {0.045, 0.064},
		"one beyond":          {0.1, 0.064},
		"a large spread":      {0.1, 0.2},
		"of a narrow one too": {0.01, 0.02},
	} {
		t.Run(name, func(t *testing.T) {
			p := Prospect{SD: tc.sd, Alpha: 0.0042}
			n := p.BlocksNeeded(tc.difference, 8)
			if n < 8 || p.decides(tc.difference, n) < Power || n > 8 && p.decides(tc.difference, n-1) >= Power {
				t.Errorf("%d blocks decide with probability %.3f, one less with %.3f", n, p.decides(tc.difference, n), p.decides(tc.difference, n-1))
			}
		})
	}
	if n := (Prospect{SD: 10, Alpha: 0.0042}).BlocksNeeded(0.1, 8); n != 0 {
		t.Errorf("hopeless noise asks for %d blocks, want 0", n)
	}
}

func TestSummariseKnowsSpreadFromTwoValuesOn(t *testing.T) {
	if got := Summarise(nil); got != nil {
		t.Errorf("summary of nothing: %+v", got)
	}
	if got := Summarise([]float64{5}); got.StdDev != nil || got.Low != nil || got.Mean != 5 {
		t.Errorf("summary of one value: %+v", got)
	}
	got := Summarise([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if diff := cmp.Diff([]float64{5, 2, 9, 2.13809}, []float64{got.Mean, got.Min, got.Max, *got.StdDev}, within(1e-5)); diff != "" {
		t.Errorf("mean, min, max, sd (-want +got):\n%s", diff)
	}
}
