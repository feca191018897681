package aa_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"loadstone.dev/loadstone/hack/bench/aa"
)

func pair(cpu, load int64) aa.Pair {
	return aa.Pair{{Requests: 100, LoadNanos: 1000, CPUNanos: 1000}, {Requests: 100, LoadNanos: load, CPUNanos: cpu}}
}

func recording(change func(*aa.Recording)) aa.Recording {
	block := func() aa.Block {
		return aa.Block{Levels: []aa.Level{{Connections: 10, Sequential: pair(1100, 900), Sliced: pair(1000, 1000)}}}
	}
	r := aa.Recording{
		Blocks:  []aa.Block{block(), block()},
		Planted: &aa.Planted{CalibrationIterations: 1000, Calibration: []aa.Pair{pair(3000, 1000), pair(2000, 1000)}, Iterations: 40, Pairs: []aa.Pair{pair(1050, 1000)}},
	}
	change(&r)
	return r
}

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*aa.Recording)
		want   string
	}{
		"a whole recording":               {func(*aa.Recording) {}, ""},
		"one that was interrupted":        {func(r *aa.Recording) { r.Planted = nil }, ""},
		"one without blocks":              {func(r *aa.Recording) { r.Blocks = nil }, "no blocks"},
		"one without levels":              {func(r *aa.Recording) { r.Blocks[0].Levels = nil }, "no levels"},
		"a block that lacks a level":      {func(r *aa.Recording) { r.Blocks[1].Levels = nil }, "block 2 has 0 levels"},
		"a cell without requests":         {func(r *aa.Recording) { r.Blocks[1].Levels[0].Sliced[1].Requests = 0 }, "block 2"},
		"a planted pair without CPU time": {func(r *aa.Recording) { r.Planted.Pairs[0][0].CPUNanos = 0 }, "planted pairs"},
		"a loop measured at each end":     {func(r *aa.Recording) { r.Planted.LoopNanos = [][]float64{{2}, {2}} }, ""},
		"a loop not measured at the end":  {func(r *aa.Recording) { r.Planted.LoopNanos = [][]float64{{2}} }, "not calibrated"},
		"no calibration":                  {func(r *aa.Recording) { r.Planted.Calibration = nil }, "not calibrated"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(recording(tc.change))
			if err != nil {
				t.Fatal(err)
			}
			_, err = aa.Parse(text)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := aa.Parse([]byte("{")); err == nil {
		t.Error("half of a file was read")
	}
}

func TestWhatARecordingSays(t *testing.T) {
	r := recording(func(*aa.Recording) {})
	cpu, throughput := r.Blocks[0].Levels[0].Sequential.Logs()
	for name, tc := range map[string]struct{ got, want float64 }{
		"CPU time":                    {cpu, math.Log(1.1)},
		"throughput":                  {throughput, math.Log(1 / 0.9)},
		"throughput in requests/s":    {r.Blocks[0].Levels[0].Sequential[0].Throughput(), 1e8},
		"what a planted loop costs":   {r.Planted.Size(), 1.5 / 1000 * 40},
		"CPU time in ns, per request": {r.Planted.Pairs[0][1].CPUPerRequest(), 10.5},
	} {
		if math.Abs(tc.got-tc.want) > 1e-9*tc.want {
			t.Errorf("%s: got %g, want %g", name, tc.got, tc.want)
		}
	}
}

func TestAPlantedLoopThatWasMeasuredByItself(t *testing.T) {
	base := aa.Pair{{Requests: 1, LoadNanos: 1, CPUNanos: 1000}, {Requests: 1, LoadNanos: 1, CPUNanos: 1050}}
	p := aa.Planted{Iterations: 25, Pairs: []aa.Pair{base, base}, LoopNanos: [][]float64{{1.9, 2.1}, {2.2}, {1.8}}}
	// Middles of 2.1 and 2.0 ns; half of the changes are 0.1/2.1 and 0.2/2.0 of them.
	if got, want := p.Size(), 25*2.05/1000; math.Abs(got-want) > 1e-12 {
		t.Errorf("size %g, want %g", got, want)
	}
	if got, want := p.Uncertainty(), math.Hypot(0.1/2.1, 0.2/2.0)/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("uncertainty %g, want %g", got, want)
	}
}

func TestWhichBlocksCount(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*aa.Block)
		want   int
	}{
		"a quiet block":                 {func(*aa.Block) {}, 0},
		"one that others used":          {func(b *aa.Block) { b.StrangersCPUs = 0.16 }, 1},
		"one that was stolen":           {func(b *aa.Block) { b.StealCPUs = 0.06 }, 1},
		"at the limits":                 {func(b *aa.Block) { b.StrangersCPUs, b.StealCPUs = 0.15, 0.05 }, 0},
		"a cell that others used":       {func(b *aa.Block) { b.Levels[0].Sequential[1].StrangersShare = 0.2 }, 1},
		"a sliced pair that was stolen": {func(b *aa.Block) { b.Levels[0].Sliced[0].StealShare = 0.1 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := recording(func(r *aa.Recording) { tc.change(&r.Blocks[1]) })
			kept, out := r.Allowed()
			if out != tc.want || len(kept.Blocks) != len(r.Blocks)-tc.want {
				t.Errorf("%d left out and %d kept, want %d out", out, len(kept.Blocks), tc.want)
			}
		})
	}
}
