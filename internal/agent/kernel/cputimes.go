package kernel

import (
	"bytes"
	"fmt"
	"slices"
)

// nanosPerTick is the length of the kernel's clock tick as user space sees it: USER_HZ is 100 everywhere.
const nanosPerTick = 10_000_000

// CPUTimes are sums over some CPUs, in nanoseconds: what went to anybody, what the hypervisor took, and what passed at all.
type CPUTimes struct{ Busy, Steal, Total int64 }

// TimesOf adds up the times of some CPUs, given in ascending order, in the text of /proc/stat. Time of virtual machines is in user time
// already, and is not counted twice.
func TimesOf(text []byte, cpus []int) (CPUTimes, error) {
	var sum CPUTimes
	for len(text) > 0 {
		l, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		after, ok := bytes.CutPrefix(l, []byte("cpu"))
		if !ok {
			break
		}
		cpu, ok := number(after)
		if _, wanted := slices.BinarySearch(cpus, int(cpu)); wanted && ok && len(after) > 0 && after[0] != ' ' {
			sum.add(after)
		}
	}
	if sum.Total == 0 {
		return sum, fmt.Errorf("reading the times of the CPUs %v: %w", cpus, ErrNoNumber)
	}
	return sum, nil
}

// add adds a line of /proc/stat: the CPU's number, then user, nice, system, idle, iowait, irq, softirq and steal ticks.
func (c *CPUTimes) add(l []byte) {
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
			c.Steal += n * nanosPerTick
		case i != idle && i != iowait:
			c.Busy += n * nanosPerTick
		}
		c.Total += n * nanosPerTick
	}
}
