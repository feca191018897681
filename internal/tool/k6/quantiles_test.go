package k6

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// percentile is k6's definition: linear interpolation around the rank q(n-1), from 0.
func percentile(sorted []float64, q float64) float64 {
	rank := q * (float64(len(sorted)) - 1)
	low, high := sorted[int(math.Floor(rank))], sorted[int(math.Ceil(rank))]
	return low + (high-low)*(rank-math.Floor(rank))
}

func summarise(t *testing.T, sorted []float64) (stats []string, values []float64) {
	t.Helper()
	stats = trendStats()
	for _, stat := range stats {
		switch stat {
		case "count":
			values = append(values, float64(len(sorted)))
		case "min":
			values = append(values, sorted[0])
		case "max":
			values = append(values, sorted[len(sorted)-1])
		default:
			q, err := quantile(stat)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, percentile(sorted, q))
		}
	}
	return stats, values
}

// samples draws latencies in milliseconds, in whole nanoseconds like k6: long tails, steps and ties.
func samples(random *rand.Rand, n int) []float64 {
	drawn := make([]float64, n)
	shape := random.IntN(4)
	for i := range drawn {
		nanos := 20_000 + int64(300_000*random.ExpFloat64())
		switch {
		case shape == 1 && random.IntN(50) == 0:
			nanos *= 1000
		case shape == 2:
			nanos = 1_000_000 * (1 + random.Int64N(3))
		case shape == 3:
			nanos = int64(1000 * math.Exp(20*random.Float64()))
		}
		drawn[i] = float64(nanos) / 1e6
	}
	slices.Sort(drawn)
	return drawn
}

func TestEachSampleLiesInItsBracket(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 300 {
		n := 1 + random.IntN(20)
		if round%3 > 0 {
			n = 1 + random.IntN(20_000)
		}
		sorted := samples(random, n)
		stats, values := summarise(t, sorted)
		found, err := brackets(stats, values, int64(n))
		if err != nil {
			t.Fatalf("brackets() of %d samples: %v", n, err)
		}
		rank := 0
		for _, b := range found {
			if b.Count <= 0 {
				t.Fatalf("an empty bracket %+v of %d samples", b, n)
			}
			for range b.Count {
				if micros := sorted[rank] * 1000; micros < float64(b.LowMicros)-rounding || micros > float64(b.HighMicros)+rounding {
					t.Fatalf("sample %d of %d is %v µs, outside %+v", rank, n, micros, b)
				}
				rank++
			}
		}
		if rank != n {
			t.Fatalf("the brackets hold %d of %d samples", rank, n)
		}
	}
}

func TestBracketsAreNarrow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const n = 100_000
	sorted := make([]float64, n)
	for i := range sorted {
		sorted[i] = 1 + random.ExpFloat64()
	}
	slices.Sort(sorted)
	stats, values := summarise(t, sorted)
	found, err := brackets(stats, values, n)
	if err != nil {
		t.Fatal(err)
	}
	rank := int64(0)
	for _, b := range found {
		rank += b.Count
		if q := float64(rank) / n; q < 0.999 && float64(b.HighMicros) > 1.03*float64(b.LowMicros) {
			t.Errorf("at quantile %.4f the bracket is %+v, wider than 3 %%", q, b)
		}
	}
}

func TestBracketsRefuse(t *testing.T) {
	tests := map[string]struct {
		stats  []string
		values []float64
	}{
		"fewer values than statistics":    {stats: []string{"min", "max"}, values: []float64{1}},
		"no ends":                         {stats: []string{"p(50)"}, values: []float64{1}},
		"a negative latency":              {stats: []string{"min", "max"}, values: []float64{-1, 1}},
		"a latency of more than an hour":  {stats: []string{"min", "max"}, values: []float64{1, 3_600_001}},
		"a latency that is no number":     {stats: []string{"min", "max"}, values: []float64{math.NaN(), 1}},
		"quantiles that descend":          {stats: []string{"min", "p(50)", "max"}, values: []float64{1, 3, 2}},
		"a percentile above 100":          {stats: []string{"min", "p(101)", "max"}, values: []float64{1, 2, 3}},
		"a statistic that was not wanted": {stats: []string{"min", "avg", "max"}, values: []float64{1, 2, 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := brackets(tc.stats, tc.values, 10); err == nil {
				t.Errorf("brackets() = %v, want an error", got)
			}
		})
	}
}

func TestTrendStatsAreDistinct(t *testing.T) {
	stats := trendStats()
	if got := len(slices.Compact(slices.Sorted(slices.Values(stats)))); got != len(stats) || got != quantiles+3 {
		t.Errorf("%d of %d statistics are distinct, want %d", got, len(stats), quantiles+3)
	}
}
