package aa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/record"
)

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
		c.Requests, c.LoadNanos = run.Measurement.Requests, run.ActiveNanos
		if c.LoadNanos == 0 {
			c.LoadNanos = 1000 * run.Measurement.DurationMicros
		}
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
