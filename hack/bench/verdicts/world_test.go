package verdicts

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/internal/verdict"
)

// still is a noise of nothing, steps one that is different in each cell.
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

func TestRatesThatAreMissed(t *testing.T) {
	for name, tc := range map[string]struct {
		missed float64
		want   verdict.RateCounts
	}{
		"never":  {0, verdict.RateCounts{ContenderSustained: 5, BaselineSustained: 5}},
		"always": {1, verdict.RateCounts{ContenderMissed: 5, BaselineMissed: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{noise: still, rate: true, missed: []float64{tc.missed}, contenders: 1, levels: 1, blocks: 5}
			if got := *w.draw(rand.New(rand.NewPCG(1, 1)))[0][0].Rate; got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestRecordedNoiseIsWhatWasRecorded(t *testing.T) {
	recorded := []logs{{cpu: []float64{0.1, 0.2}, throughput: []float64{-0.3, -0.4}}}
	signs := map[bool]int{}
	for i := range 20 {
		d := recordedPair(recorded)(rand.New(rand.NewPCG(1, uint64(i))), 3)
		sign := d[0].cpu / 0.1
		signs[sign > 0]++
		if math.Abs(sign) != 1 || d[1].cpu != sign*0.2 || d[0].throughput != sign*-0.3 || d[1].throughput != sign*-0.4 || math.Abs(d[2].cpu) != 0.1 {
			t.Fatalf("a block was taken apart: %+v", d)
		}
	}
	if signs[true] < 5 || signs[false] < 5 {
		t.Errorf("signs %v, want as many of one as of the other", signs)
	}
	w := noises{sequential: recorded}.ordinary()
	w.levels = 2
	if _, level := w.spreads(); math.Abs(level-math.Sqrt((0.09+0.16)/2)) > 0.005 {
		t.Errorf("a pair of two servers has an sd of %.4f, want that of the recorded pairs", level)
	}
}

func TestComponentsOfNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var recorded []logs
	for range 20_000 {
		var b logs
		whole := 0.03 * math.Sqrt2 * random.NormFloat64()
		for range 2 {
			b.cpu = append(b.cpu, whole+0.04*math.Sqrt2*random.NormFloat64())
		}
		recorded = append(recorded, b)
	}
	if cell, process := components(recorded); math.Abs(cell-0.04) > 0.001 || math.Abs(process-0.03) > 0.001 {
		t.Errorf("got %.4f and %.4f, want 0.04 and 0.03", cell, process)
	}
}

func TestARunMayStopByWidth(t *testing.T) {
	for name, tc := range map[string]struct {
		width  float64
		blocks int
	}{
		"wide enough at the first look": {10, 10},
		"never narrow enough":           {1e-9, 40},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{noise: normalServer(0.05, 0), contenders: 1, levels: 1, blocks: 40, widths: []float64{tc.width}}
			random := rand.New(rand.NewPCG(1, 1))
			if got := w.decide(random, w.draw(random), false)[0].Deciding().Blocks; got != tc.blocks {
				t.Errorf("it has %d blocks, want %d", got, tc.blocks)
			}
		})
	}
}

func TestAnExactRunIsExact(t *testing.T) {
	w := world{noise: still, contenders: 2, levels: 3, blocks: 10}
	run := w.decide(nil, w.exact(0.02, 0.1), false)
	for k, want := range []float64{math.Exp(-0.02), 1} {
		if d := run[k].Deciding(); math.Abs(*d.Ratio-want) > 1e-9 || math.Abs(*d.LogStdDev-0.1) > 1e-9 {
			t.Errorf("contender %d: ratio %g, sd %g, want %g and 0.1", k, *d.Ratio, *d.LogStdDev, want)
		}
	}
}
