package aa_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
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

// simulated is a run of two servers, the second of which needs so much more CPU time as burn costs.
func simulated(t *testing.T, duet bool, cpu float64, burn string) record.RunData {
	t.Helper()
	data := recordtest.Run(recordtest.Options{
		Name: "aa", Seed: 5, Blocks: 8, Levels: []int32{100}, Seconds: 2, Duet: duet, Noise: 0.001,
		Servers: []recordtest.Server{{Name: "first", CPUMicros: 10, RSSBytes: 9 << 20}, {Name: "second", CPUMicros: cpu, RSSBytes: 9 << 20}},
	})
	data.Manifest.Plan.Implementations[1].Command = []string{"gohttp", burn}
	return data
}

func TestARecordingIsMadeOfRuns(t *testing.T) {
	runs := aa.Runs{
		Sequential: simulated(t, false, 10, ""), Sliced: simulated(t, true, 10, ""),
		Planted: simulated(t, true, 10.5, "--burn=500"), Calibration: simulated(t, true, 60, "--burn=50000"),
	}
	// A neighbour on the server's CPU in one block voids it.
	disturbed := &runs.Sliced.Trials[3].Servers[0].Cells[0]
	disturbed.BusyNanos += disturbed.CoreNanos
	got, err := aa.FromRuns(runs)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Blocks) != 7 || len(got.Planted.Pairs) != 8 || len(got.Planted.Calibration) != 8 || got.CellMillis != 2000 || got.Machine == "" {
		t.Errorf("got %d blocks, %d planted pairs, cells of %d ms on %q", len(got.Blocks), len(got.Planted.Pairs), got.CellMillis, got.Machine)
	}
	if size := got.Planted.Size(); math.Abs(size-0.05) > 0.002 {
		t.Errorf("the planted difference is %.4f, want 0.05", size)
	}
	if cpu, _ := got.Planted.Pairs[0].Logs(); math.Abs(cpu-math.Log(1.05)) > 0.02 {
		t.Errorf("a planted pair differs by %.4f", cpu)
	}
	if c := got.Blocks[0].Levels[0].Sequential[1]; math.Abs(c.CPUPerRequest()-10_000) > 1500 || c.StrangersShare > 0.15 {
		t.Errorf("a server has %+v", c)
	}
	runs.Planted.Manifest.Plan.Implementations[1].Command = []string{"gohttp"}
	if _, err := aa.FromRuns(runs); err == nil || !strings.Contains(err.Error(), "has no --burn=") {
		t.Errorf("a run without a loop gave %v", err)
	}
	if err := aa.Record(t.Context(), t.TempDir(), "none"); err == nil || !strings.Contains(err.Error(), "reading the run") {
		t.Errorf("a folder without runs gave %v", err)
	}
}

func TestTheRunsOfARecordingAreAccepted(t *testing.T) {
	for _, name := range []string{"sequential", "sliced", "planted", "calibration"} {
		if f, err := runfile.Open(t.Context(), "../../../config/aa/"+name+".yaml"); err != nil || f.Run.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
