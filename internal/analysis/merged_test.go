package analysis_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/tool"
)

// latencies are in fractional microseconds: a body of about 300 µs and a long tail.
func latencies(n int) []float64 {
	random, list := rand.New(rand.NewPCG(20_26, 1)), make([]float64, n)
	for i := range list {
		list[i] = 300 * math.Exp(0.4*random.NormFloat64())
		if random.IntN(50) == 0 {
			list[i] *= 1 + 20*random.ExpFloat64()
		}
	}
	return list
}

// distribution is of a cell whose generators had these samples, counted in whole microseconds.
func distribution(t *testing.T, shares ...[]float64) measured.Distribution {
	t.Helper()
	const connections = 640
	data := recordtest.Run(recordtest.Options{
		Name: "merging", Blocks: 1, Levels: []int32{connections}, Servers: []recordtest.Server{{Name: "one", CPUMicros: 10}}, Seconds: 5,
		Generators: int32(len(shares)),
	})
	for k, samples := range shares {
		bins := make([]tool.Bin, len(samples))
		for i, v := range samples {
			bins[i] = tool.Bin{Micros: int64(v), Count: 1}
		}
		l, err := tool.Latency(record.Observed, bins)
		if err != nil {
			t.Fatal(err)
		}
		m := record.Measurement{
			Tool: "wrk", Threads: 1, Connections: connections / int32(len(shares)), DurationMicros: 5_000_000, Requests: int64(len(samples)), Latency: []record.Latency{l},
		}
		recordtest.SetRequests(&m, m.Requests)
		data.Trials[0].Generators[k].Cells[0].Measurement = &m
	}
	table := analyse(t, data)
	if len(table.Groups[0].Latency) == 0 {
		t.Fatalf("the cell has no distribution: %+v", table.Groups[0].Cells[0].Reasons)
	}
	return table.Groups[0].Latency[0]
}

// quantileError is the largest error, as a share of what three digits or the tool's microsecond allow.
func quantileError(t *testing.T, d measured.Distribution, samples []float64) (worst float64) {
	t.Helper()
	sorted, seen := slices.Sorted(slices.Values(samples)), 0
	for _, q := range d.Quantiles {
		if q.Micros == nil || !slices.Contains([]float64{0.5, 0.99, 0.999}, q.Q) {
			continue
		}
		seen++
		want := sorted[int(math.Ceil(q.Q*float64(len(sorted))-1e-6))-1]
		worst = max(worst, math.Abs(float64(*q.Micros)-want)/max(0.001*want, 1))
	}
	if seen != 3 {
		t.Fatalf("%d of p50, p99 and p99.9 are known", seen)
	}
	return worst
}

func TestManyGeneratorsHaveTheDistributionOfAllTheirSamples(t *testing.T) {
	samples := latencies(16 * 20_000)
	merged := distribution(t, slices.Collect(slices.Chunk(samples, 20_000))...)
	if whole := distribution(t, samples); !reflect.DeepEqual(merged, whole) {
		t.Errorf("16 generators have %+v, and one that had all samples %+v", merged, whole)
	}
	worst := quantileError(t, merged, samples)
	t.Log(figures.Of("merged-quantile-error", worst, "of what is allowed", figures.AtMost(1), "largest of p50, p99 and p99.9 against 320000 sorted samples; allowed are 0.1 % or 1 µs").Line())
	if worst > 1 {
		t.Errorf("a quantile is off by %.2f of what is allowed", worst)
	}
	for i := range samples {
		samples[i] *= 1.01
	}
	if off := quantileError(t, merged, samples); off < 5 {
		t.Errorf("one per cent off is %.2f of what is allowed, want about 10", off)
	}
}
