package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"loadstone.dev/loadstone/hack/bench/local"
)

func anyOrder() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

var (
	cellA, cellB, cellC = single("x", "a"), single("x", "b"), wrk("x", 10)
	// someTable has a set of two cells, one of one, and another group.
	someTable = []comparison{
		ratio("g-r", cellA, cellB, cpuNanos, atMost(1)),
		value("g-v", cellC, cpuNanos, "ns", theMean, atMost(1)),
		value("g-w", grown("x", 10), memoryGrowth, "ratio", theHighest, atMost(1)),
		value("h-v", cellA, cpuNanos, "ns", theMean, atMost(1)),
	}
)

func TestAJobMeasuresWhatIsComparedSideBySide(t *testing.T) {
	all := jobs(someTable, "g", 3, anyOrder())
	seen := map[string]int{}
	orders := map[cell]int{}
	for i, j := range all {
		seen[fmt.Sprintf("%s in block %d", j.name, j.block)]++
		if i > 0 && j.block < all[i-1].block {
			t.Errorf("block %d is after block %d", j.block, all[i-1].block)
		}
		if j.name == "cases" {
			orders[j.cells[0]]++
			if !slices.Contains(j.cells, cellA) || !slices.Contains(j.cells, cellB) || len(j.cells) != 2 {
				t.Errorf("a set has the cells %v", j.cells)
			}
		}
	}
	// Two sets in each of three blocks, and one that is measured once.
	if len(seen) != 7 || len(all) != 7 {
		t.Errorf("there are %v", seen)
	}
	for _, j := range jobs(someTable, "g", 50, anyOrder()) {
		orders[j.cells[0]]++
	}
	if orders[cellA] < 10 || orders[cellB] < 10 {
		t.Errorf("the order of cells is not random: %v", orders)
	}
}

// rig is a bench whose cells and strangers a test decides.
type rig struct {
	bench
	raw bytes.Buffer
	// performed are the cells in their order; fails says what measuring one for the n-th time gives.
	performed []cell
	fails     func(c cell, n int) error
	// others are how many CPUs others use, job by job.
	others []float64
}

func newRig(blocks int, left []comparison) *rig {
	r := &rig{fails: func(cell, int) error { return nil }}
	r.bench = bench{log: io.Discard, raw: json.NewEncoder(&r.raw), random: anyOrder(), blocks: blocks, left: left}
	r.perform = func(_ context.Context, cells []cell) ([]measured, error) {
		all := make([]measured, len(cells))
		for i, c := range cells {
			r.performed = append(r.performed, c)
			all[i] = measured{Operations: 10, WallSeconds: 1, CPUSeconds: 1}
			if err := r.fails(c, r.times(c)); err != nil {
				return nil, &local.SideError{Side: i, Err: err}
			}
		}
		return all, nil
	}
	r.watch = func() func() (float64, float64) {
		return func() (float64, float64) {
			if len(r.others) == 0 {
				return 0, 0
			}
			o := r.others[0]
			r.others = r.others[1:]
			return o, 0
		}
	}
	return r
}

func (r *rig) times(c cell) (n int) {
	for _, p := range r.performed {
		if p == c {
			n++
		}
	}
	return n
}

func (r *rig) run(t *testing.T) recording {
	t.Helper()
	if err := r.write(line{Header: &header{Blocks: r.blocks, Figures: names(r.left)}}); err != nil {
		t.Fatal(err)
	}
	if err := r.measure(t.Context(), r.plan()); err != nil {
		t.Fatal(err)
	}
	got, err := read(&r.raw)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEachBlockHasEachCell(t *testing.T) {
	r := newRig(3, someTable)
	got := r.run(t)
	for group, cells := range map[string][]cell{"g": {cellA, cellB, cellC}, "h": {cellA}} {
		for _, c := range cells {
			for block := 1; block <= 3; block++ {
				if e, ok := got.entries[spot{place{group, c}, block}]; !ok || e.Attempt != 1 || e.Measured.Operations != 10 {
					t.Errorf("%s, %s, block %d: %+v", group, c, block, e)
				}
			}
		}
	}
	if n := len(got.entries); n != 3*4+1 {
		t.Errorf("there are %d entries", n)
	}
}

func TestADisturbedSetIsMeasuredAnewAFewTimes(t *testing.T) {
	tests := map[string]struct {
		others       []float64
		wantTimes    int
		wantLast     float64
		wantAttempts int
	}{
		"nobody disturbs":              {nil, 2, 0, 1},
		"somebody does once":           {[]float64{0.5}, 3, 0, 2},
		"a little is nothing":          {[]float64{0.1}, 2, 0.1, 1},
		"somebody does without an end": {[]float64{0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2}, 5, 0.9, 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(2, someTable[:1])
			r.others = tc.others
			got := r.run(t)
			// Of the set's two blocks either may have been the first; the table looks at the block with the most attempts.
			if n := r.times(cellA); n != tc.wantTimes || r.times(cellB) != n {
				t.Errorf("the cells were measured %d and %d times, want %d", n, r.times(cellB), tc.wantTimes)
			}
			first, second := got.entries[spot{place{"g", cellA}, 1}], got.entries[spot{place{"g", cellA}, 2}]
			if most := max(first.Attempt, second.Attempt); most != tc.wantAttempts {
				t.Errorf("there were %d attempts, want %d", most, tc.wantAttempts)
			}
			if last := max(first.StrangersCPUs, second.StrangersCPUs); last != tc.wantLast {
				t.Errorf("others used %g, want %g", last, tc.wantLast)
			}
		})
	}
}

func TestACellThatFailsTakesOnlyItsFiguresWithIt(t *testing.T) {
	r := newRig(3, someTable)
	r.fails = func(c cell, _ int) error {
		if c == cellB {
			return errors.New("it crashed")
		}
		return nil
	}
	got := r.run(t)
	if n := r.times(cellB); n != 1 {
		t.Errorf("it was measured %d times", n)
	}
	for _, c := range someTable {
		want := ""
		if c.name == "g-r" {
			want = "it crashed"
		}
		f := c.figure(got)
		if c.name == "g-w" {
			// The rig's cells have no memory.
			want = "no block has all of its cells"
		}
		if f.Missing != want {
			t.Errorf("%s: got %q, want %q", c.name, f.Missing, want)
		}
	}
	// The other cell of the set is needed by nobody in this group any more: at most once here, and thrice in the other.
	if n := r.times(cellA); n > 4 {
		t.Errorf("what nobody needs was measured %d times", n)
	}
}

func TestErrorsOfAToolSpoilASetUntilTheyGoOn(t *testing.T) {
	spoiled := fmt.Errorf("%w: 3 timeouts", local.ErrSpoiled)
	r := newRig(3, someTable[1:2])
	r.fails = func(_ cell, n int) error {
		if n == 1 || n == 3 {
			return spoiled
		}
		return nil
	}
	if f := someTable[1].figure(r.run(t)); f.Missing != "" || f.Note[:3] != "n=3" {
		t.Errorf("now and then an error, and it is %s", f.Line())
	}
	r = newRig(3, someTable[1:2])
	r.fails = func(cell, int) error { return spoiled }
	if f := someTable[1].figure(r.run(t)); f.Missing != spoiled.Error() {
		t.Errorf("always an error, and it is %s", f.Line())
	}
	if n := len(r.performed); n != attempts {
		t.Errorf("it was measured %d times", n)
	}
}

func TestAnInterruptionEndsTheMeasurement(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(3, someTable)
	r.fails = func(_ cell, _ int) error {
		cancel()
		return errors.New("killed")
	}
	if err := r.measure(ctx, r.plan()); !errors.Is(err, context.Canceled) || len(r.performed) != 1 {
		t.Errorf("got %v after %d cells", err, len(r.performed))
	}
}
