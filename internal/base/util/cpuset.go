package util

import (
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds a list of CPUs, which may come from a pod.
const maxCPU = 1 << 14

// ParseCPUs parses the kernel's list of CPUs, such as "0-2,5", in ascending order; nil if invalid.
func ParseCPUs(list string) []int {
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if errFrom != nil || errTo != nil || from < 0 || to < from || to > maxCPU || len(cpus) > maxCPU {
			return nil
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus)
}
