package verdicts

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/internal/analysis/verdict"
)

// simulated is a recording of a machine whose pairs have these standard deviations, with a planted difference.
func simulated(blocks int, sequential, sliced, planted float64) aa.Recording {
	random := rand.New(rand.NewPCG(1, 2))
	pair := func(sd, more float64) aa.Pair {
		noisy := func() float64 { return math.Exp(sd / math.Sqrt2 * random.NormFloat64()) }
		cell := func(cpu float64) aa.Cell {
			return aa.Cell{Requests: 100_000, LoadNanos: int64(2e9 * cpu), CPUNanos: int64(1e9 * cpu)}
		}
		return aa.Pair{cell(noisy()), cell(noisy() * (1 + more))}
	}
	r := aa.Recording{CellMillis: 2000}
	for range blocks {
		b := aa.Block{}
		for _, connections := range []int32{10, 100} {
			b.Levels = append(b.Levels, aa.Level{Connections: connections, Sequential: pair(sequential, 0), Sliced: pair(sliced, 0)})
		}
		r.Blocks = append(r.Blocks, b)
	}
	r.Planted = &aa.Planted{CalibrationIterations: 1000, Calibration: []aa.Pair{pair(0.001, 20*planted)}, Iterations: 50}
	for range 10 {
		r.Planted.Pairs = append(r.Planted.Pairs, pair(sliced, planted))
	}
	return r
}

// recordedNoises are those of a simulated recording.
func recordedNoises() noises { return noisesOf(simulated(60, 0.05, 0.01, 0.05)) }

func TestFalseSentencesAreSeldom(t *testing.T) {
	const runs = 400
	for _, tr := range recordedNoises().trials() {
		t.Run(tr.name, func(t *testing.T) {
			c, err := tr.tally(t.Context(), runs)
			if err != nil {
				t.Fatal(err)
			}
			if c.runs != runs || c.winners > runs*5/100 {
				t.Errorf("%d of %d runs name a wrong winner, want a few in a hundred at most: make bench-stats has the figures", c.winners, c.runs)
			}
		})
	}
}

func TestAPlantedDifferenceIsFoundByEnoughBlocksOnly(t *testing.T) {
	const runs = 200
	for name, tc := range map[string]struct {
		blocks      int
		planted     float64
		least, most int
	}{
		"too few blocks for any verdict": {5, 0.2, 0, 0},
		"a difference like the noise":    {10, 0.04, runs / 10, runs * 95 / 100},
		"a difference far beyond":        {10, 0.2, runs, runs},
	} {
		t.Run(name, func(t *testing.T) {
			w := recordedNoises().ordinary()
			w.blocks = tc.blocks
			hits, err := w.with(tc.planted, w.levels).found(t.Context(), runs, overallWorse)
			if err != nil {
				t.Fatal(err)
			}
			if hits < tc.least || hits > tc.most {
				t.Errorf("found in %d of %d runs, want %d to %d", hits, runs, tc.least, tc.most)
			}
		})
	}
}

func TestRegressionSeldomSeesAChangeOfNothing(t *testing.T) {
	const runs = 1000
	for earlier, most := range map[int]int{5: runs * 2 / 100, 3: runs * 2 / 100} {
		if wrong, err := falseChanges(t.Context(), runs, earlier); err != nil || wrong > most {
			t.Errorf("%d earlier runs: %d of %d, %v; want %d at most", earlier, wrong, runs, err, most)
		}
	}
	if wrong, err := falseChanges(t.Context(), runs, 1); err != nil || wrong < runs/10 {
		t.Errorf("one earlier run: %d of %d, %v; want many, since it knows nothing of the spread between runs", wrong, runs, err)
	}
}

func TestFiguresOfSlicedPairs(t *testing.T) {
	list, err := duetFigures(simulated(200, 0.05, 0.01, 0.05))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || math.Abs(list[0].Value-0.2) > 0.03 || list[1].Value > 1 {
		t.Errorf("got %+v, want a ratio of about 0.2, and the planted difference found within 1", list)
	}
	if !strings.HasSuffix(list[1].Note, "verdict Worse") {
		t.Errorf("the planted difference is not decided: %s", list[1].Note)
	}
	interrupted := simulated(3, 0.05, 0.01, 0.05)
	interrupted.Planted = nil
	if list, err = duetFigures(interrupted); err == nil || len(list) != 1 {
		t.Errorf("an interrupted recording gives %d figures and %v, want one and an error", len(list), err)
	}
}

func TestTheStoredRecordingCanBeRead(t *testing.T) {
	r, err := readRecording(blocksFile)
	if err != nil || len(r.Blocks) < 40 || r.Planted == nil {
		t.Errorf("it has %d blocks, want 40 or more, and planted pairs: %v", len(r.Blocks), err)
	}
	if _, err := readRecording("testdata/none.json"); err == nil {
		t.Error("a recording that there is not was read")
	}
}

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
