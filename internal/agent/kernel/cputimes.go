package kernel

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// nanosPerTick is the kernel's clock tick for user space: USER_HZ is 100 everywhere.
const nanosPerTick = 10_000_000

// CPUTimes are sums over some CPUs, in nanoseconds: time used by anything, stolen by the hypervisor, and total.
type CPUTimes struct{ Busy, Steal, Total int64 }

// TimesOf adds up some CPUs (in ascending order) from the text of /proc/stat. Guest time is part of user time, so it is not added.
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

// add adds a line of /proc/stat: CPU number, then user, nice, system, idle, iowait, irq, softirq and steal ticks.
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

// WatchCPUs watches some CPUs (in ascending order) for a while. It returns the share of their time that the hypervisor took, and how many of them
// were in use on average.
func WatchCPUs(ctx context.Context, root fs.FS, cpus []int, span time.Duration) (steal, busy float64, err error) {
	read := func() (CPUTimes, error) {
		text, err := fs.ReadFile(root, "proc/stat")
		if err != nil {
			return CPUTimes{}, fmt.Errorf("reading CPU times: %w", err)
		}
		return TimesOf(text, cpus)
	}
	before, err := read()
	if err != nil {
		return 0, 0, err
	}
	select {
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	case <-time.After(span):
	}
	after, err := read()
	if err != nil || after.Total == before.Total {
		return 0, 0, err
	}
	total := float64(after.Total - before.Total)
	return float64(after.Steal-before.Steal) / total, float64(after.Busy-before.Busy) / total * float64(len(cpus)), nil
}
