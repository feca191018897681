package massif_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler/massif"
)

func drawn(all []massif.Branch) []string {
	var lines []string
	for _, b := range all {
		name := b.Function
		if b.Cut > 0 {
			name = fmt.Sprintf("cut %d, full %v", b.Cut, b.Full)
		}
		lines = append(lines, fmt.Sprintf("%s%s %d %.1f%%", strings.Repeat(".", b.Depth), name, b.Bytes, 100*b.Share))
	}
	return lines
}

func TestATreeIsCutWhereLittleIsHeld(t *testing.T) {
	leaf := func(name string, bytes int64, callers ...massif.Node) massif.Node {
		return massif.Node{Function: name, File: "a.c", Line: 1, Bytes: bytes, Callers: callers}
	}
	tree := massif.Node{Bytes: 1000, Callers: []massif.Node{
		leaf("few", 8), leaf("small", 200, leaf("main", 200)),
		leaf("large", 780, leaf("serve", 700, leaf("main", 700)), leaf("log", 70), leaf("tiny", 5), massif.Node{Function: "in 3 places, all below massif's threshold (1.00%)", Bytes: 5}),
		{Function: "in 1 place, below massif's threshold (1.00%)", Bytes: 12},
	}}
	for name, tc := range map[string]struct {
		least float64
		most  int
		want  []string
	}{
		"below one in a hundred": {0.01, 100, []string{
			"large 780 78.0%", ".serve 700 70.0%", "..main 700 70.0%", ".log 70 7.0%", ".cut 4, full false 10 1.0%", "small 200 20.0%", ".main 200 20.0%", "cut 2, full false 20 2.0%",
		}},
		"after three lines": {0.01, 3, []string{
			"large 780 78.0%", ".serve 700 70.0%", "..main 700 70.0%", ".cut 5, full true 80 8.0%", "cut 3, full true 220 22.0%",
		}},
		"nowhere": {0, 100, []string{
			"large 780 78.0%", ".serve 700 70.0%", "..main 700 70.0%", ".log 70 7.0%", ".tiny 5 0.5%", ".cut 3, full false 5 0.5%", "small 200 20.0%", ".main 200 20.0%", "few 8 0.8%",
			"cut 1, full false 12 1.2%",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, drawn(tree.Branches(tc.least, tc.most))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := (massif.Node{}).Branches(0.01, 10); len(got) != 0 {
		t.Errorf("a tree of nothing has %+v", got)
	}
}

// The recorded tree leads from the allocating place to the program's start.
func TestTheTreeOfARecordedPeak(t *testing.T) {
	r := parse(t, "planted.out")
	want := []string{"answer", ".main"}
	var got []string
	for _, b := range r.Peak().Tree.Branches(0.01, 60) {
		got = append(got, strings.Repeat(".", b.Depth)+b.Function)
	}
	if len(got) < 2 || !cmp.Equal(want, got[:2]) || r.PeakStacks() == 0 {
		t.Errorf("the tree begins with %q, want %q; stacks have %d bytes", got, want, r.PeakStacks())
	}
}
