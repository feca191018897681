package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// servers returns a plan's implementations by block, in the order of their trials.
func servers(lines []record.PlannedTrial) map[int32][]string {
	out := map[int32][]string{}
	for _, t := range lines {
		out[t.Block] = append(out[t.Block], t.Servers...)
	}
	return out
}

// levels returns the connections of a trial's cells, in order.
func levels(p Plan, line record.PlannedTrial) []int32 {
	var out []int32
	for _, s := range p.Slots(line) {
		out = append(out, s.Cell.Connections)
	}
	return out
}

// many is a run of five implementations and four levels.
func many(blocks int32) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks = blocks
		for k := range 3 {
			more := s.Implementations[0]
			more.Name = fmt.Sprintf("more-%d", k)
			s.Implementations = append(s.Implementations, more)
		}
		s.Loads[0].Levels = nil
		for _, c := range []int32{2, 4, 8, 16} {
			s.Loads[0].Levels = append(s.Loads[0].Levels, v1alpha1.Level{Connections: c})
		}
	}
}

func TestEverySecondBlockReversesTheOneBeforeIt(t *testing.T) {
	for name, p := range map[string]Plan{"an even number of blocks": compiled(t, spec(many(10))), "an odd number, whose last block is mirrored by the first repeat": compiled(t, spec(many(7)))} {
		t.Run(name, func(t *testing.T) {
			lines := slices.Clone(p.Trials)
			for repeat := range RepeatBlocks(p.Blocks) {
				lines = append(lines, p.Repeat("r", repeat+1)...)
			}
			order, orders := servers(lines), map[string]bool{}
			for block := int32(1); block < int32(len(order)); block += 2 {
				second := slices.Clone(order[block+1])
				slices.Reverse(second)
				if !slices.Equal(order[block], second) {
					t.Errorf("block %d has the order %q and the next one %q", block, order[block], order[block+1])
				}
				orders[strings.Join(order[block], " ")] = true
			}
			if len(orders) < 3 {
				t.Errorf("all pairs have one of the orders %v: they are not random", orders)
			}
		})
	}
}

func TestLevelsHaveTheSameOrderInATrialOfOneBlockAndTheReverseInTheNext(t *testing.T) {
	p := compiled(t, spec(many(20)))
	byBlock, orders := map[int32][]int32{}, map[string]bool{}
	for _, line := range p.Trials {
		own := levels(p, line)
		if first, known := byBlock[line.Block]; known && !slices.Equal(first, own) {
			t.Errorf("in block %d the levels are %v for one implementation and %v for another", line.Block, first, own)
		}
		byBlock[line.Block] = own
		orders[fmt.Sprint(own)] = true
	}
	for block := int32(1); block < 20; block += 2 {
		second := slices.Clone(byBlock[block+1])
		slices.Reverse(second)
		if !slices.Equal(byBlock[block], second) {
			t.Errorf("block %d has the levels %v and the next one %v", block, byBlock[block], byBlock[block+1])
		}
	}
	if len(orders) < 8 {
		t.Errorf("20 blocks have the level orders %v: they are not random", orders)
	}
}

func TestStepsOfASearchStayTogetherAndInOrder(t *testing.T) {
	p := compiled(t, spec(many(6), func(s *v1alpha1.BenchmarkRunSpec) {
		searched := s.Loads[0]
		searched.Name, searched.Tool, searched.Levels = "searched", v1alpha1.ToolK6, []v1alpha1.Level{{Connections: 50}}
		searched.Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100, Steps: 8}
		s.Loads = append(s.Loads, searched)
	}))
	begins := map[int]bool{}
	for _, line := range p.Trials {
		slots := p.Slots(line)
		first := slices.IndexFunc(slots, func(s timetable.Slot) bool { return s.Cell.Step == 1 })
		begins[first] = true
		for step := range int32(8) {
			if got := slots[first+int(step)].Cell; got.Step != step+1 {
				t.Fatalf("in block %d step %d of the search is followed by %+v", line.Block, step, got)
			}
		}
		if len(slots) != 12 {
			t.Fatalf("a trial has %d cells, want 12", len(slots))
		}
	}
	if len(begins) < 2 {
		t.Error("the search is at the same place in every block")
	}
}

// A run that an older operator began has a stored plan without Mirrored.
func TestAnOlderPlanKeepsItsOrder(t *testing.T) {
	p := compiled(t, spec(many(4)))
	p.Mirrored = false
	for _, line := range p.Trials {
		if got := levels(p, line); !slices.Equal(got, []int32{2, 4, 8, 16}) {
			t.Errorf("in block %d the levels are %v", line.Block, got)
		}
	}
	order := servers(append(p.Repeat("r", 1), p.Repeat("r", 2)...))
	second := slices.Clone(order[6])
	slices.Reverse(second)
	if slices.Equal(order[5], second) {
		t.Errorf("the repeat blocks of an older plan are mirrored: %v", order)
	}
}
