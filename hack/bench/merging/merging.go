// Package merging holds what is merged of many generators' histograms against the samples themselves, and measures what the analysis of a
// large run costs. It needs no cluster: its runs never happened.
package merging

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// mergedGenerators share the samples of one cell.
	mergedGenerators, samplesEach = 16, 20_000
	// manyHistograms are merged for the figure of time.
	manyHistograms = 64
	// allowedError is what three digits allow of a quantile; tickMicros is what the tools' whole microseconds allow.
	allowedError, tickMicros = 0.001, 1.0
	// seed makes the samples of every run the same.
	seed = 20_26
)

// Bench is the benchmark; it tells Log what it does.
type Bench struct{ Log *figures.Log }

// Measure holds distributions that were merged against the samples themselves, and tells what analysing costs.
func (b Bench) Measure(ctx context.Context) ([]figures.Figure, error) {
	exact, err := mergedAgainstSamples(mergedGenerators, samplesEach)
	if err != nil {
		return nil, err
	}
	cost, err := b.analysing(ctx)
	return append(exact, cost...), err
}

// drawLatencies are latencies in microseconds with fractions: a body of about 300 µs and a long tail.
func drawLatencies(random *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 300 * math.Exp(0.4*random.NormFloat64())
		if random.IntN(50) == 0 {
			list[i] *= 1 + 20*random.ExpFloat64()
		}
	}
	return list
}

// measurementOf is what a tool would have said of samples, which it counts in whole microseconds.
func measurementOf(samples []float64, connections int32) (record.Measurement, error) {
	bins := make([]tool.Bin, len(samples))
	for i, v := range samples {
		bins[i] = tool.Bin{Micros: int64(v), Count: 1}
	}
	l, err := tool.Latency(record.Observed, bins)
	if err != nil {
		return record.Measurement{}, err
	}
	return record.Measurement{
		Tool: "wrk", Threads: 1, Connections: connections, DurationMicros: 5_000_000, Requests: int64(len(samples)), Latency: []record.Latency{l},
	}, nil
}

// analysed is the distribution that a run of one cell gets whose generators had these samples.
func analysed(shares [][]float64) (measured.Distribution, error) {
	// However many generators share them: so many requests cannot be in flight on few connections.
	const connections = 10 * manyHistograms
	data := recordtest.Run(recordtest.Options{
		Name: "merging", Blocks: 1, Levels: []int32{connections}, Servers: []recordtest.Server{{Name: "one", CPUMicros: 10}}, Seconds: 5,
		Generators: int32(len(shares)),
	})
	for k, samples := range shares {
		m, err := measurementOf(samples, connections/int32(len(shares)))
		if err != nil {
			return measured.Distribution{}, err
		}
		recordtest.SetRequests(&m, m.Requests)
		data.Trials[0].Generators[k].Cells[0].Measurement = &m
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		return measured.Distribution{}, fmt.Errorf("analysing: %w", err)
	}
	if len(table.Groups[0].Latency) == 0 {
		return measured.Distribution{}, fmt.Errorf("analysing: the cell has no distribution: %+v", table.Groups[0].Cells[0].Reasons)
	}
	return table.Groups[0].Latency[0], nil
}

// mergedAgainstSamples compares the distribution of many generators with that of one which had all samples, and both with the
// samples.
func mergedAgainstSamples(generators, each int) ([]figures.Figure, error) {
	samples := drawLatencies(rand.New(rand.NewPCG(seed, 1)), generators*each)
	merged, err := analysed(slices.Collect(slices.Chunk(samples, each)))
	if err != nil {
		return nil, err
	}
	whole, err := analysed([][]float64{samples})
	if err != nil {
		return nil, err
	}
	differences := 0.0
	if !reflect.DeepEqual(merged, whole) {
		differences = 1
	}
	worst, err := worstQuantile(merged, samples)
	return []figures.Figure{
		figures.Of("merged-differs-from-one", differences, "distributions", figures.AtMost(0), fmt.Sprintf("%d generators of %d samples each against one histogram of all", generators, each)),
		figures.Of(
			"merged-quantile-error", worst, "of what is allowed", figures.AtMost(1),
			fmt.Sprintf("largest of p50, p99 and p99.9 against %d sorted samples; allowed are %.1f %% or %.0f µs", len(samples), 100*allowedError, tickMicros),
		),
	}, err
}

// worstQuantile is the largest error of a quantile, as a share of what is allowed.
func worstQuantile(l measured.Distribution, samples []float64) (float64, error) {
	sorted := slices.Sorted(slices.Values(samples))
	worst, seen := 0.0, 0
	for _, q := range l.Quantiles {
		if q.Micros == nil || !slices.Contains([]float64{0.5, 0.99, 0.999}, q.Q) {
			continue
		}
		seen++
		want := sorted[int(math.Ceil(q.Q*float64(len(sorted))-1e-6))-1]
		worst = max(worst, math.Abs(float64(*q.Micros)-want)/max(allowedError*want, tickMicros))
	}
	if seen != 3 {
		return 0, errors.New("comparing quantiles: p50, p99 or p99.9 is not known")
	}
	return worst, nil
}

// analysing measures what the analysis of a large run costs.
func (b Bench) analysing(ctx context.Context) ([]figures.Figure, error) {
	samples := drawLatencies(rand.New(rand.NewPCG(seed, 2)), manyHistograms*samplesEach/10)
	shares := slices.Collect(slices.Chunk(samples, samplesEach/10))
	begin := time.Now()
	if _, err := analysed(shares); err != nil {
		return nil, err
	}
	merging := time.Since(begin)
	large := recordtest.Options{
		Name: "large", Seed: 1, Blocks: 20, Noise: 0.03, Seconds: 5, Levels: []int32{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		large.Servers = append(large.Servers, recordtest.Server{Name: name, CPUMicros: 10, RSSBytes: 1 << 20})
	}
	b.Log.Say("Making a run of %d cells that never happened.", int(large.Blocks)*len(large.Levels)*len(large.Servers))
	data := recordtest.Run(large)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("making a run: %w", ctx.Err())
	}
	cost, err := costOf(func() error { _, err := analysis.Analyse(data); return err })
	if err != nil {
		return nil, fmt.Errorf("analysing a large run: %w", err)
	}
	note := fmt.Sprintf("1,000 cells with 2 histograms each; a cell of %d generators, its making included, took %.3f s", manyHistograms, merging.Seconds())
	return []figures.Figure{
		figures.Of("analysis-time", cost.time.Seconds(), "s", figures.AtMost(1), note),
		figures.Of("analysis-memory", float64(cost.bytes)/1e6, "MB", figures.AtMost(200), "largest heap beyond that before it, garbage included, looked at every millisecond"),
	}, nil
}

type cost struct {
	time  time.Duration
	bytes uint64
}

// costOf measures the time of a function and the largest heap while it runs, beyond what was there before.
func costOf(work func() error) (cost, error) {
	runtime.GC()
	before, largest := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				largest = max(largest, heap())
			}
		}
	}()
	begin := time.Now()
	err := work()
	c := cost{time: time.Since(begin)}
	close(stop)
	<-stopped
	c.bytes = max(largest, heap(), before) - before
	return c, err
}

// heap is the memory of objects, live or not yet swept.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
