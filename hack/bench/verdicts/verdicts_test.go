package verdicts

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loadstone.dev/loadstone/hack/bench/aa"
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
