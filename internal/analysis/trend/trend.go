package trend

import (
	"fmt"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Result holds the trends of a run.
type Result struct {
	// Mirrored is the plan's: every second block reversed the order of the one before it.
	Mirrored    bool `json:"mirrored"`
	LevelOrders int  `json:"levelOrders"`
	// OverRun is the change of all servers from the first to the last block; nil if there are too few.
	OverRun *Change `json:"overRun,omitempty"`
	// WithAge are the changes of each implementation from the first to the last level of a trial. It is empty if all
	// trials have the same order, since age and load are then one.
	WithAge []Change `json:"withAge,omitempty"`
}

// Change is a relative change of speed (of throughput; where that is no result, of requests per CPU time), with an
// interval: 0.1 is 10 % faster.
type Change struct {
	// Implementation is empty for all.
	Implementation string  `json:"implementation,omitempty"`
	Change         float64 `json:"change"`
	Low            float64 `json:"low"`
	High           float64 `json:"high"`
	// Blocks is the number of blocks.
	Blocks int `json:"blocks"`
}

// Found reports whether chance alone does not explain the change.
func (c Change) Found() bool { return c.Low > 0 || c.High < 0 }

const (
	// leastBlocks is what a slope with an interval needs.
	leastBlocks = 4
	// mostReach is the factor on either side of a change from which its interval says nothing.
	mostReach = 10
)

// cell is a cell's log of speed.
type cell struct {
	group, block int32
	at, speed    float64
}

// Of tests a run. Groups are all cells of levels.
func Of(plan record.Plan, trials []record.TrialData, groups []validity.Group) Result {
	r := Result{Mirrored: plan.Mirrored, LevelOrders: orders(trials)}
	all := map[string][]cell{}
	var names []string
	for g := range groups {
		own := groups[g].Implementation
		if all[own] == nil {
			names = append(names, own)
		}
		all[own] = append(all[own], cellsOf(int32(g), &groups[g])...)
	}
	tests := 1
	if r.LevelOrders > 1 {
		tests += len(names)
	}
	share := inference.Alpha / float64(tests)
	var together []cell
	for _, name := range names {
		for _, c := range all[name] {
			together = append(together, cell{c.group, c.block, float64(c.block), c.speed})
		}
		if r.LevelOrders < 2 {
			continue
		}
		if c := change(all[name], true, lifetime(all[name]), share); c != nil {
			c.Implementation = name
			r.WithAge = append(r.WithAge, *c)
		}
	}
	blocks := blocksOf(together)
	if len(blocks) > 0 {
		r.OverRun = change(together, false, float64(blocks[len(blocks)-1]-blocks[0]), share)
	}
	return r
}

// orders counts the orders of levels; steps of searches are none.
func orders(trials []record.TrialData) int {
	seen, levels := map[string]bool{}, 0
	for _, t := range trials {
		var order []string
		for _, c := range t.Manifest.Cells {
			if c.Step == 0 {
				order = append(order, record.PointOf(c).Name())
			}
		}
		levels = max(levels, len(order))
		if len(order) > 0 {
			seen[fmt.Sprint(order)] = true
		}
	}
	if levels < 2 {
		return 0
	}
	return len(seen)
}

// cellsOf returns the speeds of a group, all of one quantity: throughput, or requests per CPU time if the throughput of any cell is no result.
func cellsOf(group int32, g *validity.Group) []cell {
	counts := slices.DeleteFunc(slices.Clone(g.Cells), func(c validity.Cell) bool { return c.Validity == validity.Void })
	own := g.RequestsPerSecond == 0 && !g.ThroughputIsBound && !slices.ContainsFunc(counts, func(c validity.Cell) bool { return c.ThroughputIsDiluted })
	var out []cell
	for _, c := range counts {
		speed := math.NaN()
		switch {
		case own && c.Throughput != nil:
			speed = math.Log(*c.Throughput)
		case !own && c.CPUPerRequest != nil:
			speed = -math.Log(*c.CPUPerRequest)
		}
		if !math.IsNaN(speed) {
			out = append(out, cell{group, c.Block, c.AgeSeconds, speed})
		}
	}
	return out
}

// change returns the change over a distance; nil if the blocks are too few or its interval is too wide. The error is the jackknife's over blocks.
// Within compares only the cells of one trial.
func change(cells []cell, within bool, distance, alpha float64) *Change {
	blocks := blocksOf(cells)
	n := float64(len(blocks))
	all, ok := slope(slices.Clone(cells), within)
	if !ok || len(blocks) < leastBlocks {
		return nil
	}
	var mean, squares float64
	var without []float64
	var rest []cell
	for _, b := range blocks {
		rest = slices.DeleteFunc(append(rest[:0], cells...), func(c cell) bool { return c.block == b })
		s, ok := slope(rest, within)
		if !ok {
			return nil
		}
		without = append(without, s)
		mean += s / n
	}
	for _, s := range without {
		squares += (s - mean) * (s - mean)
	}
	freedom := n - 2 // A level, or an intercept, and a slope.
	reach := inference.TQuantile(1-alpha/2, freedom) * math.Sqrt(squares*(n-1)/n)
	share := func(slope float64) float64 { return math.Expm1(slope * distance) }
	if reach*distance > math.Log(mostReach) {
		return nil
	}
	return &Change{Change: share(all), Low: share(all - reach), High: share(all + reach), Blocks: len(blocks)}
}

// slope is that of speed, once it has taken off each level's mean (and within trials, each trial's); false without any
// spread.
func slope(own []cell, within bool) (float64, bool) {
	center(own, func(c cell) int32 { return c.group })
	least := 1e-12
	for _, c := range own {
		least += 1e-6 * c.at * c.at
	}
	const rounds, done = 20, 1e-9 // Means are taken off in turn. Without missing cells, the second round changes nothing.
	for range rounds {
		if !within || max(center(own, func(c cell) int32 { return c.block }), center(own, func(c cell) int32 { return c.group })) < done {
			break
		}
	}
	var squares, products float64
	for _, c := range own {
		squares += c.at * c.at
		products += c.at * c.speed
	}
	if squares < least {
		return 0, false
	}
	return products / squares, true
}

// center takes off the means of some parts of the cells, and returns the largest one.
func center(cells []cell, of func(cell) int32) (largest float64) {
	type sum struct{ at, speed, n float64 }
	sums := map[int32]sum{}
	for _, c := range cells {
		s := sums[of(c)]
		sums[of(c)] = sum{s.at + c.at, s.speed + c.speed, s.n + 1}
	}
	for k := range cells {
		s := sums[of(cells[k])]
		cells[k].at -= s.at / s.n
		cells[k].speed -= s.speed / s.n
		largest = max(largest, math.Abs(s.at/s.n), math.Abs(s.speed/s.n))
	}
	return largest
}

func blocksOf(cells []cell) []int32 {
	var out []int32
	for _, c := range cells {
		out = append(out, c.block)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func lifetime(cells []cell) float64 {
	most := 0.0
	for _, c := range cells {
		most = max(most, c.at)
	}
	return most
}
