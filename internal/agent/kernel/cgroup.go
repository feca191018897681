package kernel

import (
	"bytes"
	"fmt"
	"path/filepath"

	"loadstone.dev/loadstone/internal/record"
)

// Cgroup reads a container's cgroup counters (version 1 or 2). Missing files are nil.
type Cgroup struct {
	version int
	// cpu is cpuacct.usage (version 1, nanoseconds) or cpu.stat (version 2, microseconds).
	cpu *File
	// stat is cpu.stat, which holds quota throttling.
	stat *File
	// memory is memory.usage_in_bytes or memory.current.
	memory   *File
	Pressure *File
}

// OpenCgroup opens the counters below a container's /sys/fs/cgroup.
func OpenCgroup(root string) (*Cgroup, error) {
	if cpu, err := Open(filepath.Join(root, "cpu.stat")); err == nil {
		c := &Cgroup{version: 2, cpu: cpu, stat: cpu}
		c.memory, _ = Open(filepath.Join(root, "memory.current")) // Unreadable memory is reported where it is needed.
		c.Pressure, _ = Open(filepath.Join(root, "cpu.pressure")) // The machine's is read instead.
		return c, nil
	}
	cpu, err := Open(filepath.Join(root, "cpuacct/cpuacct.usage"))
	if err != nil {
		return nil, fmt.Errorf("finding a cgroup of version 1 or 2: %w", err)
	}
	c := &Cgroup{version: 1, cpu: cpu}
	c.stat, _ = Open(filepath.Join(root, "cpu/cpu.stat"))
	c.memory, _ = Open(filepath.Join(root, "memory/memory.usage_in_bytes"))
	return c, nil
}

// Close closes all files; nil is allowed.
func (c *Cgroup) Close() {
	if c == nil {
		return
	}
	c.cpu.Close()
	if c.version == 1 {
		c.stat.Close()
	}
	c.memory.Close()
	c.Pressure.Close()
}

// CPUNanos returns the cgroup's CPU time so far.
func (c *Cgroup) CPUNanos() (int64, error) {
	text, err := c.cpu.Read()
	if err != nil {
		return 0, err
	}
	if c.version == 2 {
		n, ok := field(text, "usage_usec")
		if !ok {
			return 0, fmt.Errorf("reading usage_usec of cpu.stat: %w", ErrNoNumber)
		}
		return n * 1000, nil
	}
	n, ok := number(text)
	if !ok {
		return 0, fmt.Errorf("reading cpuacct.usage: %w", ErrNoNumber)
	}
	return n, nil
}

// MemoryBytes returns the cgroup's memory, page cache included.
func (c *Cgroup) MemoryBytes() (int64, error) {
	if c.memory == nil {
		return 0, fmt.Errorf("reading the cgroup's memory: %w", ErrNoNumber)
	}
	text, err := c.memory.Read()
	if err != nil {
		return 0, err
	}
	n, ok := number(text)
	if !ok {
		return 0, fmt.Errorf("reading the cgroup's memory: %w", ErrNoNumber)
	}
	return n, nil
}

// Throttled returns the time and number of periods that a quota stopped the cgroup.
func (c *Cgroup) Throttled() (record.Throttling, error) {
	if c.stat == nil {
		return record.Throttling{}, fmt.Errorf("reading the cgroup's throttling: %w", ErrNoNumber)
	}
	text, err := c.stat.Read()
	if err != nil {
		return record.Throttling{}, err
	}
	key, unit := "throttled_time", int64(1)
	if c.version == 2 {
		key, unit = "throttled_usec", 1000
	}
	time, okTime := field(text, key)
	periods, okPeriods := field(text, "nr_throttled")
	if !okTime || !okPeriods {
		return record.Throttling{}, fmt.Errorf("reading the cgroup's throttling: %w", ErrNoNumber)
	}
	return record.Throttling{Nanos: time * unit, Periods: periods}, nil
}

// OpenPressure opens the machine's CPU pressure; nil if the kernel has none.
func (p Proc) OpenPressure() *File {
	f, err := Open(p.file("pressure/cpu"))
	if err != nil {
		return nil
	}
	return f
}

// PressureMicros returns how long some task waited for a CPU, in microseconds; nil if the kernel does not account for it.
func PressureMicros(file *File) *int64 {
	if file == nil {
		return nil
	}
	text, err := file.Read()
	if err != nil {
		// Without accounting the kernel has the file but refuses reads.
		return nil
	}
	total, ok := parsePressure(text)
	if !ok {
		return nil
	}
	return &total
}

// parsePressure reads the total of the line "some avg10=0.00 avg60=0.00 avg300=0.00 total=12".
func parsePressure(text []byte) (int64, bool) {
	l, _, _ := bytes.Cut(text, []byte{'\n'})
	l, ok := bytes.CutPrefix(l, []byte("some "))
	_, total, found := bytes.Cut(l, []byte("total="))
	if !ok || !found {
		return 0, false
	}
	return number(total)
}
