package verdicts

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/internal/verdict"
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
