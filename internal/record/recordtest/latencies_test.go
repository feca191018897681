package recordtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

func TestLatenciesOfAnyNumberOfRequests(t *testing.T) {
	for name, requests := range map[string]int64{"none": 0, "fewer than are drawn": 7, "a number that does not divide": 123_457} {
		t.Run(name, func(t *testing.T) {
			observed, corrected := latencies(rand.New(rand.NewPCG(1, 1)), 300, requests)
			if observed.Samples() != requests || corrected.Samples() != requests+requests/300 {
				t.Errorf("%d observed and %d corrected, want %d and a three hundredth more", observed.Samples(), corrected.Samples(), requests)
			}
		})
	}
}

func TestADistributionOfOneValue(t *testing.T) {
	l := Equal(record.FromIntended, 1500, 40)
	h := decoded(t, l)
	if l.Kind != record.FromIntended || l.HDRHigh != "" || h.Samples() != 40 || h.Quantile(0.01) != h.Quantile(1) {
		t.Errorf("got %d samples from %d to %d µs of %s", h.Samples(), h.Quantile(0.01), h.Quantile(1), l.Kind)
	}
	if bin := histogram.BinOf(1500); h.Min() < bin.Low || h.Max() > bin.High {
		t.Errorf("%d to %d µs, want 1500", h.Min(), h.Max())
	}
}

func body(samples int64) record.Latency {
	observed, _ := latencies(rand.New(rand.NewPCG(1, 1)), 300, samples)
	return Encode(record.Observed, observed)
}

func TestAThinnedDistributionKeepsItsShape(t *testing.T) {
	whole := decoded(t, body(100_000))
	for name, samples := range map[string]int64{"a hundredth": 1000, "all but a few": 99_990, "all": 100_000} {
		t.Run(name, func(t *testing.T) {
			thin := decoded(t, Thin(body(100_000), samples))
			if thin.Samples() != samples {
				t.Errorf("%d samples, want %d", thin.Samples(), samples)
			}
			for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
				if got, want := float64(thin.Quantile(q)), float64(whole.Quantile(q)); math.Abs(got/want-1) > 0.02 {
					t.Errorf("the %g quantile is %.0f µs, want about %.0f", q, got, want)
				}
			}
		})
	}
}

func TestAWidenedDistributionHoldsTheExactOne(t *testing.T) {
	exact := body(10_000)
	wide := Widen(record.FromIntended, exact)
	low, high, mid := decoded(t, wide), decoded(t, record.Latency{HDR: wide.HDRHigh, Samples: wide.Samples}), decoded(t, exact)
	if wide.Kind != record.FromIntended || wide.Samples != 10_000 {
		t.Errorf("%d samples of %s", wide.Samples, wide.Kind)
	}
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		a, b, v := float64(low.Quantile(q)), float64(high.Quantile(q)), float64(mid.Quantile(q))
		if a > v*1.002 || b < v*0.998 || math.Abs(b/a-1.1) > 0.03 {
			t.Errorf("the %g quantile of %.0f µs lies between %.0f and %.0f, want a tenth around it", q, v, a, b)
		}
	}
}
