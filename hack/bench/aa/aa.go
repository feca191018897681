// Package aa is the form in which blocks of equal servers are recorded: what a machine makes of a difference of nothing. A recording is made of
// runs of the specs in config/aa (Record); the figures that are drawn from one are those of hack/bench/verdicts. The recordings of before
// have a LoopNanos, which was measured by a server of its own.
package aa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// Recording is everything that was recorded on one machine in one go.
type Recording struct {
	Recorded time.Time `json:"recorded"`
	// Machine names kernel and CPU, Server the argument vector of both servers without their port.
	Machine string   `json:"machine"`
	Server  []string `json:"server"`
	Seed    uint64   `json:"seed"`
	// WarmupMillis, CellMillis, PlantedMillis and SliceMillis are what was planned: of a sliced pair each side has as much time under load
	// as a cell, and of a planted one PlantedMillis.
	WarmupMillis  int64   `json:"warmupMillis"`
	CellMillis    int64   `json:"cellMillis"`
	PlantedMillis int64   `json:"plantedMillis"`
	SliceMillis   int64   `json:"sliceMillis"`
	Blocks        []Block `json:"blocks"`
	// Planted is nil until all blocks are recorded.
	Planted *Planted `json:"planted,omitempty"`
}

// Block holds the same levels twice: with the servers one after the other, as in a run, and sliced.
type Block struct {
	// StrangersCPUs is how many CPUs others used on average, StealCPUs how many the hypervisor took.
	StrangersCPUs float64 `json:"strangersCPUs"`
	StealCPUs     float64 `json:"stealCPUs"`
	Levels        []Level `json:"levels"`
}

// Level is a pair of each kind at one number of connections.
type Level struct {
	Connections int32 `json:"connections"`
	Sequential  Pair  `json:"sequential"`
	Sliced      Pair  `json:"sliced"`
}

// Planted are sliced pairs whose second server runs a loop of so many iterations per request.
type Planted struct {
	// LoopNanos are measurements of what an iteration costs, in nanoseconds of the server's CPU time: before each pair, and after the last.
	LoopNanos [][]float64 `json:"loopNanos,omitempty"`
	// Calibration pairs had a loop that was long enough to see it in the ratio. Recordings without LoopNanos have them.
	CalibrationIterations uint64 `json:"calibrationIterations,omitempty"`
	Calibration           []Pair `json:"calibration,omitempty"`
	// Iterations are about a twentieth of a request's CPU time.
	Iterations uint64 `json:"iterations"`
	Pairs      []Pair `json:"pairs"`
}

// Pair is what was measured of two servers at one level, in the order of their names and not of time.
type Pair [2]Cell

// Cell is what was measured of one server.
type Cell struct {
	Requests int64 `json:"requests"`
	// LoadNanos is the time under load, CPUNanos the server's CPU time in it.
	LoadNanos int64 `json:"loadNanos"`
	CPUNanos  int64 `json:"cpuNanos"`
	// StrangersShare and StealShare are which shares of the server's CPU others used, and the hypervisor took, during the cell: of a sliced pair, during
	// both. Older recordings have them by blocks only.
	StrangersShare float64 `json:"strangersShare,omitempty"`
	StealShare     float64 `json:"stealShare,omitempty"`
}

// CPUPerRequest is the server's CPU time per request, in nanoseconds.
func (c Cell) CPUPerRequest() float64 { return float64(c.CPUNanos) / float64(c.Requests) }

// Throughput is in requests per second.
func (c Cell) Throughput() float64 { return float64(c.Requests) * 1e9 / float64(c.LoadNanos) }

// Allowed reports whether Loadstone would void no cell of the block for what others did. The limits are its own; those of the block hold for all CPUs of
// the machine together, which is stricter than for the server's.
func (b Block) Allowed() bool {
	if b.StealCPUs > plan.MaxSteal || b.StrangersCPUs > plan.MaxNeighbourCPU {
		return false
	}
	return !slices.ContainsFunc(b.Levels, func(l Level) bool { return !l.Sequential.Allowed() || !l.Sliced.Allowed() })
}

// Allowed reports whether Loadstone would void neither cell of the pair for what others did.
func (p Pair) Allowed() bool { return p[0].allowed() && p[1].allowed() }

func (c Cell) allowed() bool {
	return c.StealShare <= plan.MaxSteal && c.StrangersShare <= plan.MaxNeighbourCPU
}

// Allowed is the recording without the blocks that are not allowed, and their number.
func (r Recording) Allowed() (kept Recording, out int) {
	kept = r
	kept.Blocks = slices.DeleteFunc(slices.Clone(r.Blocks), func(b Block) bool { return !b.Allowed() })
	return kept, len(r.Blocks) - len(kept.Blocks)
}

func (c Cell) measured() bool { return c.Requests > 0 && c.LoadNanos > 0 && c.CPUNanos > 0 }

// Logs are the logs of the second server's CPU time per request and throughput by the first's.
func (p Pair) Logs() (cpu, throughput float64) {
	return math.Log(p[1].CPUPerRequest() / p[0].CPUPerRequest()), math.Log(p[1].Throughput() / p[0].Throughput())
}

// Size is what Iterations cost per request as a share of the first server's CPU time.
func (p Planted) Size() float64 {
	var sum float64
	if len(p.LoopNanos) == 0 {
		for _, c := range p.Calibration {
			sum += (c[1].CPUPerRequest()/c[0].CPUPerRequest() - 1) / float64(p.CalibrationIterations)
		}
		return sum / float64(len(p.Calibration)) * float64(p.Iterations)
	}
	for i, pair := range p.Pairs {
		sum += (mean(p.LoopNanos[i]) + mean(p.LoopNanos[i+1])) / 2 / pair[0].CPUPerRequest()
	}
	return sum / float64(len(p.Pairs)) * float64(p.Iterations)
}

// Uncertainty is the standard error of Size as a share of it. By LoopNanos it is that of the middle between the measurements before and after
// each pair, which holds what the machine drifts meanwhile; by calibration pairs, that of their mean.
func (p Planted) Uncertainty() float64 {
	var squares float64
	if len(p.LoopNanos) == 0 {
		size, n := p.Size()/float64(p.Iterations)*float64(p.CalibrationIterations), float64(len(p.Calibration))
		for _, c := range p.Calibration {
			off := c[1].CPUPerRequest()/c[0].CPUPerRequest() - 1 - size
			squares += off * off
		}
		return math.Sqrt(squares/(n-1)/n) / size
	}
	pairs := len(p.LoopNanos) - 1
	for i := range pairs {
		before, after := mean(p.LoopNanos[i]), mean(p.LoopNanos[i+1])
		off := (after - before) / (after + before)
		squares += off * off
	}
	return math.Sqrt(squares) / float64(pairs)
}

// Measurements is the number of LoopNanos.
func (p Planted) Measurements() int {
	n := 0
	for _, l := range p.LoopNanos {
		n += len(l)
	}
	return n
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Parse reads a recording and refuses one from which nothing can be drawn.
func Parse(text []byte) (Recording, error) {
	var r Recording
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading a recording: %w", err)
	}
	if len(r.Blocks) == 0 || len(r.Blocks[0].Levels) == 0 {
		return r, errors.New("reading a recording: it has no blocks, or they have no levels")
	}
	for i, b := range r.Blocks {
		if len(b.Levels) != len(r.Blocks[0].Levels) {
			return r, fmt.Errorf("reading a recording: block %d has %d levels, the first %d", i+1, len(b.Levels), len(r.Blocks[0].Levels))
		}
		for _, l := range b.Levels {
			if err := check(l.Sequential, l.Sliced); err != nil {
				return r, fmt.Errorf("reading block %d of a recording at %d connections: %w", i+1, l.Connections, err)
			}
		}
	}
	if p := r.Planted; p != nil {
		if err := check(append(p.Calibration, p.Pairs...)...); err != nil {
			return r, fmt.Errorf("reading the planted pairs of a recording: %w", err)
		}
		if !p.calibrated() {
			return r, errors.New("reading the planted pairs of a recording: they are not calibrated")
		}
	}
	return r, nil
}

// calibrated says whether it is known what an iteration costs.
func (p Planted) calibrated() bool {
	if len(p.LoopNanos) == 0 {
		return len(p.Calibration) > 0 && p.CalibrationIterations > 0
	}
	return len(p.LoopNanos) == len(p.Pairs)+1 && !slices.ContainsFunc(p.LoopNanos, func(l []float64) bool { return len(l) == 0 || slices.Min(l) <= 0 })
}

func check(pairs ...Pair) error {
	for _, p := range pairs {
		if !p[0].measured() || !p[1].measured() {
			return fmt.Errorf("a cell has no requests, load or CPU time: %+v", p)
		}
	}
	return nil
}

// Runs are those from which a recording is made, as "loadstone run" has led them: two equal servers one after the other and in turns, and in turns a server
// against one with a planted loop, a short one to be found and a long one by which the loop is calibrated.
type Runs struct{ Sequential, Sliced, Planted, Calibration record.RunData }

// Record reads the runs from a folder, in which each has one of its own name, and writes a recording to a file.
func Record(ctx context.Context, folder, file string) error {
	f, err := artifact.OpenFolder(folder)
	if err != nil {
		return err
	}
	var r Runs
	for name, into := range map[string]*record.RunData{"sequential": &r.Sequential, "sliced": &r.Sliced, "planted": &r.Planted, "calibration": &r.Calibration} {
		if *into, err = f.Load(ctx, name); err != nil {
			return fmt.Errorf("reading the run %s: %w", name, err)
		}
	}
	recorded, err := FromRuns(r)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(recorded, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the recording: %w", err)
	}
	if _, err := Parse(text); err != nil {
		return err
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	return nil
}

// FromRuns makes a recording. Blocks in which Loadstone would void a cell for what others did are left out.
func FromRuns(r Runs) (Recording, error) {
	plan := r.Sequential.Manifest.Plan
	if len(plan.Cells) == 0 || len(r.Sequential.Trials) == 0 || len(r.Planted.Manifest.Plan.Cells) == 0 {
		return Recording{}, errors.New("making a recording: a run has no cells, or no trial")
	}
	first, planted := plan.Cells[0], r.Planted.Manifest.Plan.Cells[0]
	at := r.Sequential.Trials[0].Servers[0].Environment
	out := Recording{
		Recorded: r.Sequential.Manifest.Started, Machine: at.Kernel + ", " + at.CPUModel, Server: plan.Implementations[0].Command, Seed: plan.Seed,
		WarmupMillis: 1000 * int64(first.WarmupSeconds), CellMillis: 1000 * int64(first.DurationSeconds), PlantedMillis: 1000 * int64(planted.DurationSeconds),
		SliceMillis: sliceMillis,
	}
	for _, c := range plan.Cells {
		out.add(c.Connections, pairs(r.Sequential, record.PointOf(c)), pairs(r.Sliced, record.PointOf(c)))
	}
	out.Blocks = slices.DeleteFunc(out.Blocks, func(b Block) bool { return len(b.Levels) < len(plan.Cells) })
	short, err := burn(r.Planted)
	if err != nil {
		return out, err
	}
	long, err := burn(r.Calibration)
	out.Planted = &Planted{
		Iterations: short, Pairs: pairs(r.Planted, record.PointOf(planted)), CalibrationIterations: long, Calibration: pairs(r.Calibration, record.PointOf(planted)),
	}
	return out, err
}

// sliceMillis is the slice of a duet.
const sliceMillis = 100

// add adds a level to as many blocks as have a pair of each kind.
func (r *Recording) add(connections int32, sequential, sliced []Pair) {
	for i := range min(len(sequential), len(sliced)) {
		if i == len(r.Blocks) {
			r.Blocks = append(r.Blocks, Block{})
		}
		r.Blocks[i].Levels = append(r.Blocks[i].Levels, Level{Connections: connections, Sequential: sequential[i], Sliced: sliced[i]})
	}
}

// burn is the number of iterations of the loop that the second server of a run has.
func burn(data record.RunData) (uint64, error) {
	const flag = "--burn="
	own := data.Manifest.Plan.Implementations
	for _, arg := range own[len(own)-1].Command {
		if text, ok := strings.CutPrefix(arg, flag); ok {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading the iterations of run %s: %w", data.Manifest.Run.Name, err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("reading the iterations of run %s: the command of %s has no %s", data.Manifest.Run.Name, own[len(own)-1].Name, flag)
}

// pairs are those of a point in the order of the blocks, in which both sides were measured and nobody disturbed them.
func pairs(data record.RunData, at record.Point) []Pair {
	byBlock := map[int32]*Pair{}
	for _, t := range data.Trials {
		for side := range t.Servers {
			own := byBlock[t.Manifest.Block]
			if own == nil {
				own = &Pair{}
				byBlock[t.Manifest.Block] = own
			}
			own[place(data, t.Manifest.Servers[side])] = cellOf(t, side, at)
		}
	}
	var out []Pair
	last := data.Manifest.Blocks + data.Manifest.RepeatBlocks
	for block := int32(1); block <= last; block++ {
		if p := byBlock[block]; p != nil && check(*p) == nil && p.Allowed() {
			out = append(out, *p)
		}
	}
	return out
}

// place is that of an implementation in a pair.
func place(data record.RunData, name string) int {
	if data.Manifest.Plan.Implementations[0].Name == name {
		return 0
	}
	return 1
}

// cellOf is what was measured of a server of a trial; the zero Cell if nothing was.
func cellOf(t record.TrialData, side int, at record.Point) (c Cell) {
	for _, run := range t.Generators[0].Cells {
		if run.Point != at || run.Server != side || run.Measurement == nil || run.Measurement.Errors.Sum() > 0 {
			continue
		}
		c.Requests, c.LoadNanos = run.Measurement.Requests, run.LoadNanos()
	}
	busy, core := int64(0), int64(0)
	for i, server := range t.Servers {
		for _, seen := range server.Cells {
			switch {
			case seen.Point != at:
			case i == side:
				c.CPUNanos, core, busy = seen.CPUNanos, seen.CoreNanos, busy+seen.BusyNanos-seen.CPUNanos
				c.StealShare = float64(seen.StealNanos)
			default:
				busy -= seen.CPUNanos // The peer of a duet is no stranger.
			}
		}
	}
	if core == 0 {
		return Cell{}
	}
	c.StrangersShare, c.StealShare = max(float64(busy)/float64(core), 0), c.StealShare/float64(core)
	return c
}
