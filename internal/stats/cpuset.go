package stats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds CPU numbers, lest a malformed list make a huge set.
const maxCPU = 1 << 16

// parseCPUs reads a kernel CPU list such as "0-3,8".
func parseCPUs(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			return nil, fmt.Errorf("reading CPU list %q: %w", list, err)
		}
		to, err := strconv.Atoi(last)
		if err != nil {
			return nil, fmt.Errorf("reading CPU list %q: %w", list, err)
		}
		if from < 0 || to < from || to > maxCPU {
			return nil, fmt.Errorf("reading CPU list %q: %s is no range of CPUs", list, part)
		}
		for c := from; c <= to; c++ {
			cpus = append(cpus, c)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// overlap says whether two CPU sets share a CPU.
func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}
