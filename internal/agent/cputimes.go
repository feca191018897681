package agent

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"loadstone.dev/loadstone/internal/protocol"
)

// nanosPerTick is the length of the kernel's clock tick as user space sees it: USER_HZ is 100 everywhere.
const nanosPerTick = 10_000_000

// cpuTimes are sums over some CPUs, in nanoseconds: what went to anybody, what the hypervisor took, and what passed at all.
type cpuTimes struct{ busy, steal, total int64 }

// setOf are the CPUs of the kernel's list of them.
func setOf(list string) map[int64]bool {
	cpus := map[int64]bool{}
	for _, cpu := range protocol.ParseCPUs(list) {
		cpus[int64(cpu)] = true
	}
	return cpus
}

// timesOf adds up the times of some CPUs in the text of /proc/stat. Time of virtual machines is in user time already, and is not counted
// twice.
func timesOf(text []byte, cpus map[int64]bool) (cpuTimes, error) {
	var sum cpuTimes
	for len(text) > 0 {
		l, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		after, ok := bytes.CutPrefix(l, []byte("cpu"))
		if !ok {
			break
		}
		if cpu, ok := number(after); ok && len(after) > 0 && after[0] != ' ' && cpus[cpu] {
			sum.add(after)
		}
	}
	if sum.total == 0 {
		return sum, fmt.Errorf("reading the times of the CPUs %v: %w", slices.Sorted(maps.Keys(cpus)), errNoNumber)
	}
	return sum, nil
}

// add adds a line of /proc/stat: the CPU's number, then user, nice, system, idle, iowait, irq, softirq and steal ticks.
func (c *cpuTimes) add(l []byte) {
	const idle, iowait, steal, last = 4, 5, 8, 8
	for i := 0; i <= last; i++ {
		l = bytes.TrimLeft(l, " ")
		n, ok := number(l)
		if !ok {
			return
		}
		end := bytes.IndexByte(l, ' ')
		if end < 0 {
			end = len(l)
		}
		l = l[end:]
		switch {
		case i == 0:
			continue
		case i == steal:
			c.steal += n * nanosPerTick
		case i != idle && i != iowait:
			c.busy += n * nanosPerTick
		}
		c.total += n * nanosPerTick
	}
}
