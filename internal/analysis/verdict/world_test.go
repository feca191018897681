package verdict_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// resamplingSeed makes figures reproducible.
const resamplingSeed = 20_26

// world draws runs with a known truth: one load of some levels, and contenders that share a baseline.
type world struct {
	noise noise
	// effects are, by contender and level, the logs of a request's true extra cost: CPU time and latency grow by it,
	// throughput falls. Contenders without effects equal the baseline.
	effects                    [][]float64
	contenders, levels, blocks int
	// duet: servers take turns. bound: the generators were the limit. rate: the arrival rate is imposed.
	duet, bound, rate bool
	// ownBaseline: the noise is that of a pair, so each contender has its own baseline.
	ownBaseline bool
	// void reports whether a server's cell is void; nil for never.
	void func(*rand.Rand, deviation) bool
	// missed is the probability of missing each level's rate; levels without one keep it.
	missed []float64
	// widths makes the run stop when all intervals are as narrow as one of these, checked after some blocks.
	widths []float64
}

// drawn is one run's log ratios and counts, by contender.
type drawn [][]verdict.Ratios

type server struct {
	cells        []deviation
	void, missed []bool
}

func (w world) server(random *rand.Rand) server {
	s := server{cells: w.noise(random, w.levels), void: make([]bool, w.levels), missed: make([]bool, w.levels)}
	for l, c := range s.cells {
		s.void[l] = w.void != nil && w.void(random, c)
		s.missed[l] = l < len(w.missed) && random.Float64() < w.missed[l]
	}
	return s
}

func (w world) effect(contender, level int) float64 {
	if contender >= len(w.effects) {
		return 0
	}
	return w.effects[contender][level]
}

func (w world) draw(random *rand.Rand) drawn {
	run := make(drawn, w.contenders)
	for k := range run {
		for l := range w.levels {
			run[k] = append(run[k], w.ratios(l))
		}
	}
	for b := range w.blocks {
		base := w.server(random)
		for k := range run {
			if w.ownBaseline {
				base = server{cells: make([]deviation, w.levels), void: make([]bool, w.levels), missed: make([]bool, w.levels)}
			}
			own := w.server(random)
			for l := range run[k] {
				w.pair(&run[k][l], b, l, w.effect(k, l), own, base)
			}
		}
	}
	return run
}

func (w world) ratios(level int) verdict.Ratios {
	r := verdict.Ratios{
		Point: record.Point{Load: "sweep", Connections: int32(level + 1)}, ThroughputIsBound: w.bound,
		Logs: map[verdict.Metric][]float64{verdict.CPUPerRequest: make([]float64, w.blocks)},
	}
	if w.rate {
		r.RequestsPerSecond, r.Rate = int32(1000*(level+1)), &verdict.RateCounts{}
	} else {
		r.Logs[verdict.Throughput] = make([]float64, w.blocks)
	}
	if !w.duet {
		for _, percentile := range sweep.DefaultLatencyPercentiles {
			r.Logs[verdict.LatencyAt(percentile)] = make([]float64, w.blocks)
		}
	}
	return r
}

func (w world) pair(r *verdict.Ratios, block, level int, effect float64, own, base server) {
	a, b := own.cells[level], base.cells[level]
	logs := map[verdict.Metric]float64{
		verdict.CPUPerRequest:   a.cpu - b.cpu + effect,
		verdict.Throughput:      a.throughput - b.throughput - effect,
		verdict.LatencyAt("50"): b.throughput - a.throughput + effect,
		verdict.LatencyAt("99"): a.tail - b.tail + effect,
	}
	void := own.void[level] || base.void[level]
	for m, to := range r.Logs {
		to[block] = logs[m]
		if void {
			to[block] = math.NaN()
		}
	}
	if r.Rate != nil {
		countKept(r.Rate, own, base, level)
	}
}

// countKept counts who sustained the rate in a block. A void cell does not count.
func countKept(k *verdict.RateCounts, own, base server, level int) {
	ownMissed, baseMissed := own.missed[level] && !own.void[level], base.missed[level] && !base.void[level]
	ownKept, baseKept := !own.missed[level] && !own.void[level], !base.missed[level] && !base.void[level]
	for count, yes := range map[*int]bool{
		&k.ContenderSustained: ownKept, &k.ContenderMissed: ownMissed, &k.BaselineSustained: baseKept, &k.BaselineMissed: baseMissed,
		&k.OnlyContenderMissed: ownMissed && baseKept, &k.OnlyBaselineMissed: ownKept && baseMissed,
	} {
		*count += asInt(yes)
	}
}

// decide gives a drawn run its verdicts. A run that may stop is checked after the same blocks as in the operator.
func (w world) decide(random *rand.Rand, run drawn, foresight bool) []verdict.Comparison {
	rules := verdict.Rulebook{Duet: w.duet, Foresight: foresight}
	if len(w.widths) > 0 {
		width := w.widths[random.IntN(len(w.widths))]
		interim := plan.InterimBlocks(int32(w.blocks))
		rules.Analyses = len(interim) + 1
		for _, block := range interim {
			early := verdict.Decide(run.until(int(block)), rules)
			if (analysis.Table{Comparisons: early}).NarrowerThan(width) {
				return early
			}
		}
	}
	return verdict.Decide(run, rules)
}

func (d drawn) until(blocks int) drawn {
	out := make(drawn, len(d))
	for k, levels := range d {
		for _, l := range levels {
			first := l
			first.Logs = map[verdict.Metric][]float64{}
			for m, values := range l.Logs {
				first.Logs[m] = values[:blocks]
			}
			out[k] = append(out[k], first)
		}
	}
	return out
}

// draw calls one for each run, with its own random source.
func draw(runs int, one func(*rand.Rand)) {
	for i := range runs {
		one(rand.New(rand.NewPCG(resamplingSeed, uint64(i))))
	}
}

// tailDeviation is the standard deviation of the log ratio of two equal servers' p99 in a block. Recordings lack
// latencies; this comes from ordinary cells on the machine of the default experiment.
const tailDeviation = 0.5

// deviation is the error of the logs of one server's figures in a cell. The median latency mirrors the throughput, as
// if all connections always wait for an answer.
type deviation struct{ cpu, throughput, tail float64 }

// noise draws one server process's deviations at each level of a block.
type noise func(random *rand.Rand, levels int) []deviation

type logs struct{ cpu, throughput []float64 }

func logsOf(r recording, of func(level) pair) []logs {
	list := make([]logs, len(r.Blocks))
	for i, b := range r.Blocks {
		for _, l := range b.Levels {
			cpu, throughput := of(l).logs()
			list[i].cpu, list[i].throughput = append(list[i].cpu, cpu), append(list[i].throughput, throughput)
		}
	}
	return list
}

// recordedPair is a recorded block with all levels, its servers swapped half of the time. A run with more levels gets
// the rest from another block.
func recordedPair(recorded []logs) noise { return recordedNoise(recorded, 1) }

// recordedServer is the noise of one server: a recorded pair's deviation from its middle, scaled so that two
// independent servers have the recorded spread. So contenders can share a baseline, though only pairs were recorded.
func recordedServer(recorded []logs) noise { return recordedNoise(recorded, 1/math.Sqrt2) }

func recordedNoise(recorded []logs, scale float64) noise {
	return func(random *rand.Rand, levels int) []deviation {
		out := make([]deviation, 0, levels)
		for len(out) < levels {
			from := recorded[random.IntN(len(recorded))]
			factor := scale * float64(1-2*random.IntN(2))
			for l := 0; l < len(from.cpu) && len(out) < levels; l++ {
				out = append(out, deviation{factor * from.cpu[l], factor * from.throughput[l], tailDeviation * scale * random.NormFloat64()})
			}
		}
		return out
	}
}

// normalServer is normal noise of cells, and of the process over all of them.
func normalServer(cell, process float64) noise {
	return func(random *rand.Rand, levels int) []deviation {
		out, whole := make([]deviation, levels), process*random.NormFloat64()
		for l := range out {
			off := whole + cell*random.NormFloat64()
			out[l] = deviation{off, -off, tailDeviation / math.Sqrt2 * random.NormFloat64()}
		}
		return out
	}
}

// spread is the standard deviation of equal servers' log CPU ratios, over blocks and levels, with the mean known to
// be 0.
func spread(recorded []logs) float64 {
	var squares float64
	n := 0
	for _, b := range recorded {
		for _, v := range b.cpu {
			squares += v * v
			n++
		}
	}
	return math.Sqrt(squares / float64(n))
}

func still(_ *rand.Rand, levels int) []deviation { return make([]deviation, levels) }

func steps() noise {
	n := 0.0
	return func(_ *rand.Rand, levels int) []deviation {
		out := make([]deviation, levels)
		for l := range out {
			n++
			out[l] = deviation{n, -n, 10 * n}
		}
		return out
	}
}

func TestWhatAWorldDraws(t *testing.T) {
	never := func(*rand.Rand, deviation) bool { return false }
	always := func(*rand.Rand, deviation) bool { return true }
	cpu, throughput, p50, p99 := verdict.CPUPerRequest, verdict.Throughput, verdict.LatencyAt("50"), verdict.LatencyAt("99")
	for name, tc := range map[string]struct {
		world world
		want  map[verdict.Metric]float64
	}{
		"equals without noise": {
			world{noise: still}, map[verdict.Metric]float64{cpu: 0, throughput: 0, p50: 0, p99: 0},
		},
		"more cost is more CPU time and latency and less throughput": {
			world{noise: still, effects: [][]float64{{0.5}}}, map[verdict.Metric]float64{cpu: 0.5, throughput: -0.5, p50: 0.5, p99: 0.5},
		},
		"contender less baseline": {
			world{noise: steps()}, map[verdict.Metric]float64{cpu: 1, throughput: -1, p50: 1, p99: 10},
		},
		"the noise of a pair is all there is": {
			world{noise: steps(), ownBaseline: true}, map[verdict.Metric]float64{cpu: 2, throughput: -2, p50: 2, p99: 20},
		},
		"an imposed rate has no throughput": {
			world{noise: still, rate: true}, map[verdict.Metric]float64{cpu: 0, p50: 0, p99: 0},
		},
		"a duet has no latency": {
			world{noise: still, duet: true}, map[verdict.Metric]float64{cpu: 0, throughput: 0},
		},
		"a void cell has no ratio": {
			world{noise: still, void: always}, map[verdict.Metric]float64{cpu: math.NaN(), throughput: math.NaN(), p50: math.NaN(), p99: math.NaN()},
		},
		"a good one has": {
			world{noise: still, void: never, duet: true}, map[verdict.Metric]float64{cpu: 0, throughput: 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.world.contenders, tc.world.levels, tc.world.blocks = 1, 1, 1
			got := tc.world.draw(rand.New(rand.NewPCG(1, 1)))[0][0].Logs
			if len(got) != len(tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			for m, want := range tc.want {
				if v := got[m][0]; v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
					t.Errorf("%s: got %g, want %g", m, v, want)
				}
			}
		})
	}
}

func TestContendersShareABaseline(t *testing.T) {
	w := world{noise: steps(), contenders: 2, levels: 1, blocks: 2}
	run := w.draw(rand.New(rand.NewPCG(1, 1)))
	for k, want := range [][]float64{{1, 1}, {2, 2}} {
		if got := run[k][0].Logs[verdict.CPUPerRequest]; got[0] != want[0] || got[1] != want[1] {
			t.Errorf("contender %d: got %v, want %v", k, got, want)
		}
	}
}
