package conduct

import (
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
)

// SharedCPU is the CPU on which both servers of a duet are put: the highest on which both may run, since the first does the housekeeping of
// most machines, but none that a generator on the same machine may use if there is another. It is nil if there is none. Every argument is the
// kernel's list of the CPUs on which a process may run; generators are those on the servers' machine.
func SharedCPU(first, second string, generators []string) *int32 {
	both := common(first, second)
	if len(both) == 0 {
		return nil
	}
	free := slices.DeleteFunc(slices.Clone(both), func(cpu int) bool {
		return slices.ContainsFunc(generators, func(list string) bool { return slices.Contains(util.ParseCPUs(list), cpu) })
	})
	if len(free) > 0 {
		both = free
	}
	highest := int32(slices.Max(both))
	return &highest
}

// common are the CPUs of both lists.
func common(first, second string) []int {
	other := util.ParseCPUs(second)
	return slices.DeleteFunc(util.ParseCPUs(first), func(cpu int) bool { return !slices.Contains(other, cpu) })
}
