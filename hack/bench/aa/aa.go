// Package aa is the form in which blocks of equal servers are recorded: what a machine makes of a difference of nothing. A recording is made of
// runs of the specs in this folder (Record); the figures that are drawn from one are those of hack/bench/verdicts. The recordings of before
// have a LoopNanos, which was measured by a server of its own.
package aa

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/plan"
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
