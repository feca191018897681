package verdict_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// blocksFile holds blocks of equal servers. "make bench-record" makes it from runs of config/aa.
const blocksFile = "testdata/aa-blocks.json"

// recordFrom is the folder of those runs.
var recordFrom = flag.String("record", "", "make "+blocksFile+" from the runs of config/aa in this folder")

// recording comes from one machine, in one session.
type recording struct {
	Recorded time.Time `json:"recorded"`
	// Machine names kernel and CPU, Server the arguments of both servers without their port.
	Machine string   `json:"machine"`
	Server  []string `json:"server"`
	Seed    uint64   `json:"seed"`
	// A sliced pair has as much time under load per side as a cell, a planted one PlantedMillis.
	WarmupMillis  int64   `json:"warmupMillis"`
	CellMillis    int64   `json:"cellMillis"`
	PlantedMillis int64   `json:"plantedMillis"`
	SliceMillis   int64   `json:"sliceMillis"`
	Blocks        []block `json:"blocks"`
	Planted       planted `json:"planted"`
}

// block holds the same levels sequentially, as in a run, and sliced.
type block struct {
	Levels []level `json:"levels"`
}

type level struct {
	Connections int32 `json:"connections"`
	Sequential  pair  `json:"sequential"`
	Sliced      pair  `json:"sliced"`
}

// planted are sliced pairs whose second server runs a loop of so many iterations per request.
type planted struct {
	// LoopNanos measure the CPU time of an iteration: before each pair, and after the last. Recordings from config/aa
	// have Calibration instead: pairs whose loop is long enough to see in the ratio.
	LoopNanos             [][]float64 `json:"loopNanos,omitempty"`
	CalibrationIterations uint64      `json:"calibrationIterations,omitempty"`
	Calibration           []pair      `json:"calibration,omitempty"`
	Iterations            uint64      `json:"iterations"`
	Pairs                 []pair      `json:"pairs"`
}

// pair is ordered by the servers' names, not by time.
type pair [2]cell

// cell is one server's measurement. Shares are of its CPU: what others used, and what the hypervisor took.
type cell struct {
	Requests       int64   `json:"requests"`
	LoadNanos      int64   `json:"loadNanos"`
	CPUNanos       int64   `json:"cpuNanos"`
	StrangersShare float64 `json:"strangersShare,omitempty"`
	StealShare     float64 `json:"stealShare,omitempty"`
}

func (c cell) cpuPerRequest() float64 { return float64(c.CPUNanos) / float64(c.Requests) }

// undisturbed reports whether both sides were measured and others voided neither.
func (p pair) undisturbed() bool {
	return !slices.ContainsFunc(p[:], func(c cell) bool {
		return c.Requests <= 0 || c.LoadNanos <= 0 || c.CPUNanos <= 0 || c.StealShare > plan.MaxSteal || c.StrangersShare > plan.MaxNeighbourCPU
	})
}

// logs are of the second server's values over the first's.
func (p pair) logs() (cpu, throughput float64) {
	rate := func(c cell) float64 { return float64(c.Requests) / float64(c.LoadNanos) }
	return math.Log(p[1].cpuPerRequest() / p[0].cpuPerRequest()), math.Log(rate(p[1]) / rate(p[0]))
}

// size is the loop's cost per request as a share of the first server's CPU time, with its relative standard error.
// With LoopNanos, the cost is the middle of the measurements before and after each pair, which includes drift.
func (p planted) size() (size, uncertainty float64) {
	var sum, squares float64
	if len(p.LoopNanos) == 0 {
		var costs []float64
		for _, c := range p.Calibration {
			costs = append(costs, c[1].cpuPerRequest()/c[0].cpuPerRequest()-1)
		}
		n, middle := float64(len(costs)), mean(costs)
		for _, c := range costs {
			squares += (c - middle) * (c - middle)
		}
		return middle / float64(p.CalibrationIterations) * float64(p.Iterations), math.Sqrt(squares/(n-1)/n) / middle
	}
	for i, own := range p.Pairs {
		before, after := mean(p.LoopNanos[i]), mean(p.LoopNanos[i+1])
		sum += (before + after) / 2 / own[0].cpuPerRequest()
		change := (after - before) / (after + before)
		squares += change * change
	}
	n := float64(len(p.Pairs))
	return sum / n * float64(p.Iterations), math.Sqrt(squares) / n
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func recorded(t *testing.T) recording {
	t.Helper()
	text, err := os.ReadFile(blocksFile)
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Blocks) < 40 || len(r.Planted.Pairs) == 0 {
		t.Fatalf("%s has %d blocks and %d planted pairs, want 40 blocks or more, and pairs", blocksFile, len(r.Blocks), len(r.Planted.Pairs))
	}
	return r
}

// aaRuns are the source of a recording: equal servers sequentially and in turns, and in turns a server against one
// with a planted loop: a short one to find, and a long one to calibrate the loop.
type aaRuns struct{ sequential, sliced, planted, calibration record.RunData }

// TestRecordBlocks makes a new recording if -record is set.
func TestRecordBlocks(t *testing.T) {
	if *recordFrom == "" {
		t.Skip("-record names no folder with runs of config/aa")
	}
	folder, err := artifact.OpenFolder(*recordFrom)
	if err != nil {
		t.Fatal(err)
	}
	var runs aaRuns
	for name, into := range map[string]*record.RunData{"sequential": &runs.sequential, "sliced": &runs.sliced, "planted": &runs.planted, "calibration": &runs.calibration} {
		if *into, err = folder.Load(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(runs.recording(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.FromSlash(blocksFile), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recording leaves out blocks with a cell that others voided.
func (a aaRuns) recording(t *testing.T) recording {
	t.Helper()
	cells := a.sequential.Manifest.Plan.Cells
	first, plantedCell, at := cells[0], a.planted.Manifest.Plan.Cells[0], a.sequential.Trials[0].Servers[0].Environment
	r := recording{
		Recorded: a.sequential.Manifest.Started, Machine: at.Kernel + ", " + at.CPUModel, Server: a.sequential.Manifest.Plan.Implementations[0].Command,
		Seed: a.sequential.Manifest.Plan.Seed, SliceMillis: 100,
		WarmupMillis: 1000 * int64(first.WarmupSeconds), CellMillis: 1000 * int64(first.DurationSeconds), PlantedMillis: 1000 * int64(plantedCell.DurationSeconds),
		Planted: planted{
			Iterations: burn(t, a.planted), Pairs: pairs(a.planted, record.PointOf(plantedCell)),
			CalibrationIterations: burn(t, a.calibration), Calibration: pairs(a.calibration, record.PointOf(plantedCell)),
		},
	}
	for n, c := range cells {
		sequential, sliced := pairs(a.sequential, record.PointOf(c)), pairs(a.sliced, record.PointOf(c))
		for i := range min(len(sequential), len(sliced)) {
			if i == len(r.Blocks) {
				r.Blocks = append(r.Blocks, block{})
			}
			if len(r.Blocks[i].Levels) == n {
				r.Blocks[i].Levels = append(r.Blocks[i].Levels, level{Connections: c.Connections, Sequential: sequential[i], Sliced: sliced[i]})
			}
		}
	}
	r.Blocks = slices.DeleteFunc(r.Blocks, func(b block) bool { return len(b.Levels) < len(cells) })
	return r
}

func burn(t *testing.T, data record.RunData) uint64 {
	t.Helper()
	for _, arg := range data.Manifest.Plan.Implementations[1].Command {
		if text, ok := strings.CutPrefix(arg, "--burn="); ok {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("the second server of run %s has no --burn=", data.Manifest.Run.Name)
	return 0
}

func pairs(data record.RunData, at record.Point) (out []pair) {
	byBlock := make([]pair, data.Manifest.Blocks+data.Manifest.RepeatBlocks+1)
	for _, t := range data.Trials {
		for side, name := range t.Manifest.Servers {
			place := asInt(name != data.Manifest.Plan.Implementations[0].Name)
			byBlock[t.Manifest.Block][place] = cellOf(t, side, at)
		}
	}
	for _, p := range byBlock {
		if p.undisturbed() {
			out = append(out, p)
		}
	}
	return out
}

// cellOf returns the zero cell if nothing was measured.
func cellOf(t record.TrialData, side int, at record.Point) (c cell) {
	for _, run := range t.Generators[0].Cells {
		if run.Point == at && run.Server == side && run.Measurement != nil && run.Measurement.Errors.Sum() == 0 {
			c.Requests, c.LoadNanos = run.Measurement.Requests, run.LoadNanos()
		}
	}
	var busy, core, steal int64
	for i, server := range t.Servers {
		for _, seen := range server.Cells {
			if seen.Point != at {
				continue
			}
			busy -= seen.CPUNanos // A duet's peer does not count as another process.
			if i == side {
				c.CPUNanos, core, steal = seen.CPUNanos, seen.CoreNanos, seen.StealNanos
				busy += seen.BusyNanos
			}
		}
	}
	if core == 0 {
		return cell{}
	}
	c.StrangersShare, c.StealShare = max(float64(busy)/float64(core), 0), float64(steal)/float64(core)
	return c
}

func TestARecordingIsMadeOfRuns(t *testing.T) {
	run := func(duet bool, cpu float64, burn string) record.RunData {
		data := recordtest.Run(recordtest.Options{
			Name: "aa", Seed: 5, Blocks: 8, Levels: []int32{100}, Seconds: 2, Duet: duet, Noise: 0.001,
			Servers: []recordtest.Server{{Name: "first", CPUMicros: 10, RSSBytes: 9 << 20}, {Name: "second", CPUMicros: cpu, RSSBytes: 9 << 20}},
		})
		data.Manifest.Plan.Implementations[1].Command = []string{"gohttp", burn}
		return data
	}
	runs := aaRuns{sequential: run(false, 10, ""), sliced: run(true, 10, ""), planted: run(true, 10.5, "--burn=500"), calibration: run(true, 60, "--burn=50000")}
	disturbed := &runs.sliced.Trials[3].Servers[0].Cells[0]
	disturbed.BusyNanos += disturbed.CoreNanos
	got := runs.recording(t)
	if len(got.Blocks) != 7 || len(got.Planted.Pairs) != 8 || len(got.Planted.Calibration) != 8 || got.CellMillis != 2000 || got.Machine == "" {
		t.Errorf("got %d blocks, %d planted pairs, cells of %d ms on %q", len(got.Blocks), len(got.Planted.Pairs), got.CellMillis, got.Machine)
	}
	if size, _ := got.Planted.size(); math.Abs(size-0.05) > 0.002 {
		t.Errorf("the planted difference is %.4f, want 0.05", size)
	}
	if c := got.Blocks[0].Levels[0].Sequential[1]; math.Abs(c.cpuPerRequest()-10_000) > 1500 || c.StrangersShare > 0.15 {
		t.Errorf("a server has %+v", c)
	}
}
