package agent

import (
	"errors"
	"fmt"
	"path/filepath"

	"loadstone.dev/loadstone/internal/record"
)

// cgroup reads the counters of one container's cgroup, of version 1 or 2. Files that are not there are nil.
type cgroup struct {
	version int
	// cpu is cpuacct.usage (version 1, nanoseconds) or cpu.stat (version 2, microseconds).
	cpu *counterFile
	// stat is cpu.stat, which holds what a quota took.
	stat *counterFile
	// memory is memory.usage_in_bytes or memory.current.
	memory *counterFile
	// pressure is cpu.pressure, of version 2 only.
	pressure *counterFile
}

// openCgroup opens the counters below a container's /sys/fs/cgroup.
func openCgroup(root string) (*cgroup, error) {
	if cpu, err := openCounter(filepath.Join(root, "cpu.stat")); err == nil {
		c := &cgroup{version: 2, cpu: cpu, stat: cpu}
		c.memory, _ = openCounter(filepath.Join(root, "memory.current")) // Memory that cannot be read is said where it is missed.
		c.pressure, _ = openCounter(filepath.Join(root, "cpu.pressure")) // The machine's is read instead.
		return c, nil
	}
	cpu, err := openCounter(filepath.Join(root, "cpuacct/cpuacct.usage"))
	if err != nil {
		return nil, fmt.Errorf("finding a cgroup of version 1 or 2: %w", err)
	}
	c := &cgroup{version: 1, cpu: cpu}
	c.stat, _ = openCounter(filepath.Join(root, "cpu/cpu.stat"))
	c.memory, _ = openCounter(filepath.Join(root, "memory/memory.usage_in_bytes"))
	return c, nil
}

func (c *cgroup) close() {
	if c == nil {
		return
	}
	c.cpu.close()
	if c.version == 1 {
		c.stat.close()
	}
	c.memory.close()
	c.pressure.close()
}

// errNoNumber says that a counter's file holds something else.
var errNoNumber = errors.New("the number is not there")

// cpuNanos is the CPU time of the cgroup so far.
func (c *cgroup) cpuNanos() (int64, error) {
	text, err := c.cpu.read()
	if err != nil {
		return 0, err
	}
	if c.version == 2 {
		n, ok := field(text, "usage_usec")
		if !ok {
			return 0, fmt.Errorf("reading usage_usec of cpu.stat: %w", errNoNumber)
		}
		return n * 1000, nil
	}
	n, ok := number(text)
	if !ok {
		return 0, fmt.Errorf("reading cpuacct.usage: %w", errNoNumber)
	}
	return n, nil
}

// memoryBytes is the memory of the cgroup, page cache included.
func (c *cgroup) memoryBytes() (int64, error) {
	if c.memory == nil {
		return 0, fmt.Errorf("reading the cgroup's memory: %w", errNoNumber)
	}
	text, err := c.memory.read()
	if err != nil {
		return 0, err
	}
	n, ok := number(text)
	if !ok {
		return 0, fmt.Errorf("reading the cgroup's memory: %w", errNoNumber)
	}
	return n, nil
}

// throttled is the time and the number of periods in which a quota stopped the cgroup.
func (c *cgroup) throttled() (nanos, periods int64, err error) {
	if c.stat == nil {
		return 0, 0, fmt.Errorf("reading the cgroup's throttling: %w", errNoNumber)
	}
	text, err := c.stat.read()
	if err != nil {
		return 0, 0, err
	}
	key, unit := "throttled_time", int64(1)
	if c.version == 2 {
		key, unit = "throttled_usec", 1000
	}
	time, okTime := field(text, key)
	periods, okPeriods := field(text, "nr_throttled")
	if !okTime || !okPeriods {
		return 0, 0, fmt.Errorf("reading the cgroup's throttling: %w", errNoNumber)
	}
	return time * unit, periods, nil
}

// ownUsage is the CPU time of the agent's own container so far, and what a quota has taken from it.
func ownUsage() (reading[int64], reading[record.Throttling]) {
	c, err := openCgroup("/sys/fs/cgroup")
	if err != nil {
		return reading[int64]{failed: err}, reading[record.Throttling]{failed: err}
	}
	defer c.close()
	var taken record.Throttling
	taken.Nanos, taken.Periods, err = c.throttled()
	return read(c.cpuNanos()), read(taken, err)
}
