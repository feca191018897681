package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats"
)

const (
	// contenders is the size of a drawn family, baseline excluded, and runBlocks its number of blocks where that is not varied.
	contenders, runBlocks = 3, 10
	// falseRuns are drawn for the share of false verdicts, powerRuns for each number of the table of power.
	falseRuns, powerRuns = 10_000, 1_000
	// resamplingSeed makes figures of the same recording the same.
	resamplingSeed = 20_26
)

// method is a way to measure a pair, and the metric that decides.
type method struct {
	name string
	of   func(aa.Level) aa.Pair
	// byCPU says that the throughputs are taken as if the generator had limited them.
	byCPU bool
}

func sequential(l aa.Level) aa.Pair { return l.Sequential }
func sliced(l aa.Level) aa.Pair     { return l.Sliced }

var methods = []method{
	{"sequential-throughput", sequential, false},
	{"sequential-cpu-time", sequential, true},
	{"sliced-throughput", sliced, false},
	{"sliced-cpu-time", sliced, true},
}

// logs are the log ratios of a recorded block, one a level.
type logs struct{ cpu, throughput []float64 }

func logsOf(r aa.Recording, of func(aa.Level) aa.Pair) []logs {
	list := make([]logs, len(r.Blocks))
	for i, b := range r.Blocks {
		for _, l := range b.Levels {
			cpu, throughput := of(l).Logs()
			list[i].cpu, list[i].throughput = append(list[i].cpu, cpu), append(list[i].throughput, throughput)
		}
	}
	return list
}

// draw makes a run of contenders from recorded blocks. Each contender's block is one of those recorded, with all its levels,
// and in half of the cases with its two servers swapped. The first contender costs a share more. Contenders share no baseline, as
// those of a run do: that makes their errors independent, and so the share of runs with any of them larger.
func draw(random *rand.Rand, recorded []logs, blocks int, planted float64, byCPU bool) [][]stats.Ratios {
	family := make([][]stats.Ratios, contenders)
	for k := range family {
		shift := 0.0
		if k == 0 {
			shift = math.Log1p(planted)
		}
		cpu, throughput := grid(len(recorded[0].cpu), blocks), grid(len(recorded[0].cpu), blocks)
		for b := range blocks {
			from := recorded[random.IntN(len(recorded))]
			sign := float64(1 - 2*random.IntN(2))
			for l := range from.cpu {
				cpu[l][b] = sign*from.cpu[l] + shift
				throughput[l][b] = sign*from.throughput[l] - shift
			}
		}
		for l := range cpu {
			family[k] = append(family[k], stats.Ratios{
				Point: record.Point{Load: "sweep", Connections: int32(l + 1)}, ThroughputIsBound: byCPU,
				Logs: map[stats.Metric][]float64{stats.CPUPerRequest: cpu[l], stats.Throughput: throughput[l]},
			})
		}
	}
	return family
}

func grid(rows, columns int) [][]float64 {
	g := make([][]float64, rows)
	for i := range g {
		g[i] = make([]float64, columns)
	}
	return g
}

// resample draws runs of a method, decides them by the real rules, and adds up what a function counts in each. Each run has a source of chance
// of its own, so that the sum does not depend on the number of CPUs.
func (m method) resample(ctx context.Context, r aa.Recording, runs, blocks int, planted float64, count func([]stats.Comparison) [2]int) (sum [2]int, err error) {
	recorded := logsOf(r, m.of)
	workers := runtime.GOMAXPROCS(0)
	counts := make([][2]int, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < runs && ctx.Err() == nil; i += workers {
				random := rand.New(rand.NewPCG(resamplingSeed, uint64(i)))
				c := count(stats.Decide(draw(random, recorded, blocks, planted, m.byCPU), stats.Rulebook{}))
				counts[w][0] += c[0]
				counts[w][1] += c[1]
			}
		})
	}
	group.Wait()
	for _, c := range counts {
		sum[0], sum[1] = sum[0]+c[0], sum[1]+c[1]
	}
	if ctx.Err() != nil {
		return sum, fmt.Errorf("drawing runs: %w", ctx.Err())
	}
	return sum, nil
}

func decided(v stats.Verdict) bool { return v == stats.Better || v == stats.Worse }

// anyDecided counts a run of equals in which any verdict names a winner.
func anyDecided(run []stats.Comparison) [2]int {
	for _, c := range run {
		if decided(c.Verdict) {
			return [2]int{1}
		}
		for _, l := range c.Levels {
			if decided(l.Verdict) {
				return [2]int{1}
			}
		}
	}
	return [2]int{}
}

// found counts whether the first contender is Slower over all levels, and at how many levels.
func found(run []stats.Comparison) [2]int {
	var n [2]int
	if run[0].Verdict == stats.Worse {
		n[0] = 1
	}
	for _, l := range run[0].Levels {
		if l.Verdict == stats.Worse {
			n[1]++
		}
	}
	return n
}

// verdicts draws runs whose truth is known from recorded blocks: how often equals get a winner, and how often a planted difference
// is found.
func (b *bench) verdicts(ctx context.Context) ([]figures.Figure, error) {
	r, err := readRecording(blocksFile)
	if err != nil {
		return nil, err
	}
	b.say("Blocks recorded %s on %s, %d of them.", r.Recorded.Format("2006-01-02"), r.Machine, len(r.Blocks))
	var list []figures.Figure
	for _, m := range methods {
		wrong, err := m.resample(ctx, r, falseRuns, runBlocks, 0, anyDecided)
		if err != nil {
			return nil, err
		}
		note := fmt.Sprintf(
			"one-sided 95 %% upper bound; %d of %d runs of %d blocks with %d equal contenders at %d levels, drawn from %d recorded blocks",
			wrong[0], falseRuns, runBlocks, contenders, len(r.Blocks[0].Levels), len(r.Blocks),
		)
		list = append(list, figures.Of("false-verdicts-"+m.name, 100*upperBound(wrong[0], falseRuns), "%", figures.AtMost(1.2), note))
	}
	table, err := power(ctx, r)
	if err != nil {
		return nil, err
	}
	b.say("%s", table)
	return list, nil
}

// power is a table of how often a planted difference is found.
func power(ctx context.Context, r aa.Recording) (string, error) {
	numbers := []int{5, 7, 10, 15, 20}
	var s strings.Builder
	fmt.Fprintf(&s, "Share of runs that find a planted difference, of %d runs each: over all levels / at a level, in %%\n%-34s", powerRuns, "blocks")
	for _, n := range numbers {
		fmt.Fprintf(&s, "%15d", n)
	}
	for _, m := range methods {
		for _, planted := range []float64{0.05, 0.10} {
			fmt.Fprintf(&s, "\n%-22s %3.0f %% more", m.name, 100*planted)
			for _, n := range numbers {
				hits, err := m.resample(ctx, r, powerRuns, n, planted, found)
				if err != nil {
					return "", err
				}
				levels := powerRuns * len(r.Blocks[0].Levels)
				fmt.Fprintf(&s, "%15s", fmt.Sprintf("%.1f / %.1f", share(hits[0], powerRuns), share(hits[1], levels)))
			}
		}
	}
	return s.String(), nil
}

// share is in per cent.
func share(k, n int) float64 { return 100 * float64(k) / float64(n) }
