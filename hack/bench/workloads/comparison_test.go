package main

import (
	"math"
	"strings"
	"testing"
)

// blocks is a recording of cells with a CPU time per block, in seconds for a billion operations, so that it is the nanoseconds of one;
// 0 is a block that the cell lacks.
func blocks(group string, of map[cell][]float64) recording {
	r := recording{entries: map[spot]entry{}, failures: map[place]string{}}
	for c, list := range of {
		r.Blocks = max(r.Blocks, len(list))
		for i, v := range list {
			if p := (place{group, c}); v > 0 {
				r.entries[spot{p, i + 1}] = entry{place: p, Block: i + 1, Measured: measured{Operations: 1e9, WallSeconds: v, CPUSeconds: v}}
			}
		}
	}
	return r
}

func TestFiguresOfBlocks(t *testing.T) {
	a, b := single("x", "a"), single("x", "b")
	lower := ratio("g-r", a, b, cpuNanos, atMost(1))
	tests := map[string]struct {
		comparison comparison
		blocks     map[cell][]float64
		want       string
	}{
		"a ratio is made within each block": {
			lower, map[cell][]float64{a: {1, 10, 100}, b: {2, 20, 200}}, "g-r|0.5|ratio|<=1|met|n=3, 99 % interval 0.5 to 0.5",
		},
		"a block that lacks a cell does not count": {
			lower, map[cell][]float64{a: {1, 10, 7}, b: {2, 20, 0}}, "g-r|0.5|ratio|<=1|met|n=2 of 3, 99 % interval 0.5 to 0.5",
		},
		"one block has no interval": {
			lower, map[cell][]float64{a: {1, 10}, b: {2, 0}}, "g-r|-|ratio|<=1|not measured|computing an interval: fewer than two pairs",
		},
		"no block": {lower, map[cell][]float64{a: {1, 0}, b: {0, 2}}, "g-r|-|ratio|<=1|not measured|no block has all of its cells"},
		"a value is a mean too": {
			value("g-v", a, wallNanos, "ns", theMean, atMost(4)), map[cell][]float64{a: {4, 4}}, "g-v|4|ns|<=4|met|n=2, 99 % interval 4 to 4",
		},
		"the lowest is judged": {
			value("g-v", a, wallNanos, "ns", theLowest, atLeast(4)), map[cell][]float64{a: {3, 5}}, "g-v|3|ns|>=4|short|n=2, 3 to 5",
		},
		"the highest is judged, and may be 0": {
			value("g-v", a, unanswered, "connections", theHighest, atMost(0)), map[cell][]float64{a: {1, 1}}, "g-v|0|connections|<=0|met|n=2, 0 to 0",
		},
		"a quantity that was not seen": {
			value("g-v", a, p99, "µs", theMean, atMost(4)), map[cell][]float64{a: {4, 4}}, "g-v|-|µs|<=4|not measured|no block has all of its cells",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.comparison.figure(blocks("g", tc.blocks)).Line()
			if got = strings.ReplaceAll(got, "\t", "|"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestASpreadIsHeldAgainstThatOfThePeer(t *testing.T) {
	near, far, peerNear, peerFar := single("x", "a"), single("x", "b"), single("y", "a"), single("y", "b")
	c := spread("g-s", near, far, peerNear, peerFar, cpuNanos, atMost(1).Reach())
	// It grows sixfold, and its peer threefold.
	got := c.figure(blocks("g", map[cell][]float64{near: {1, 2}, far: {6, 12}, peerNear: {1, 1}, peerFar: {3, 3}}))
	if math.Abs(got.Value-2) > 1e-9 || got.Verdict() != "short" {
		t.Errorf("got %s, want 2, short", got.Line())
	}
}

func TestAFigureSaysWhatDisturbedIt(t *testing.T) {
	a, b := single("x", "a"), single("x", "b")
	r := blocks("g", map[cell][]float64{a: {1, 1, 1}, b: {1, 1, 1}})
	for block, others := range map[int]float64{1: 0.1, 2: 0.5} {
		at := spot{place{"g", b}, block}
		e := r.entries[at]
		e.StrangersCPUs = others
		r.entries[at] = e
	}
	c := ratio("g-r", a, b, cpuNanos, atMost(1))
	if got := c.figure(r).Note; !strings.HasSuffix(got, "NOT QUIET: others used up to 0.50 CPUs in 1 of them") {
		t.Errorf("got %q", got)
	}
	r.failures[place{"other", b}] = "no such program"
	if got := c.figure(r); got.Missing != "" {
		t.Errorf("the failure of another group made it %s", got.Line())
	}
	r.failures[place{"g", b}] = "no such program"
	if got := c.figure(r); got.Missing != "no such program" {
		t.Errorf("a cell that failed made it %s", got.Line())
	}
}

func TestQuantities(t *testing.T) {
	m := measured{
		Operations: 1000, WallSeconds: 2, CPUSeconds: 0.5, Bytes: 4000, P99Micros: 7, Jain: 0.5, Unanswered: 3, SystemCalls: 2500,
		ResidentEarly: 100, ResidentLate: 101,
	}
	for name, tc := range map[string]struct{ got, want float64 }{
		"CPU time":             {cpuNanos(m), 500_000},
		"wall time":            {wallNanos(m), 2_000_000},
		"throughput":           {throughput(m), 500},
		"bytes":                {byteRate(m), 2000},
		"bytes per CPU second": {bytesPerCPU(m), 8000},
		"p99":                  {p99(m), 7},
		"system calls":         {callsPerAnswer(m), 2.5},
		"Jain's index":         {jain(m), 0.5},
		"unanswered":           {unanswered(m), 3},
		"memory":               {memoryGrowth(m), 1.01},
	} {
		if math.Abs(tc.got-tc.want) > 1e-9*tc.want {
			t.Errorf("%s: got %g, want %g", name, tc.got, tc.want)
		}
	}
}

func TestTheTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range table {
		if seen[c.name] {
			t.Errorf("%s is there twice", c.name)
		}
		seen[c.name] = true
		if c.of == nil || c.unit == "" || len(c.over) == 0 {
			t.Errorf("%s is incomplete: %+v", c.name, c)
		}
		for _, cell := range c.cells() {
			if cell.Load == ownCase && (cell.Case == "" || cell.CPUs == "") || cell.Load != ownCase && cell.Connections == 0 {
				t.Errorf("%s has the cell %+v, which lacks something", c.name, cell)
			}
		}
	}
	const most = 25 * 60
	var sum float64
	for _, g := range groups(table) {
		sum += reckon(jobs(table, g, fewestBlocks, anyOrder())).Seconds()
	}
	if sum > most {
		t.Errorf("it takes %.0f s, want at most %d", sum, most)
	}
}

func TestChoosing(t *testing.T) {
	all := []comparison{{name: "a-x"}, {name: "a-y"}, {name: "b-x"}}
	tests := map[string]struct {
		only, want string
	}{
		"nothing chooses all":              {"", "a-x a-y b-x"},
		"a group":                          {"a", "a-x a-y"},
		"a figure":                         {"a-y", "a-y"},
		"several, in the table's order":    {"b,a-x", "a-x b-x"},
		"what overlaps is not there twice": {"a,a-x", "a-x a-y"},
		"what there is not":                {"a,c", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := choose(all, tc.only)
			if strings.Join(names(got), " ") != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("got %v, %v; want %s", names(got), err, tc.want)
			}
		})
	}
	if got := strings.Join(groups(all), " "); got != "a b" {
		t.Errorf("the groups are %q", got)
	}
}
