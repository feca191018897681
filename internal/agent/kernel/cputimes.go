package kernel

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
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

// maxFrequencies bounds the CPUs whose frequencies are read, at some microseconds each.
const maxFrequencies = 8

// Frequencies are the files that show how fast some CPUs run.
type Frequencies []*File

// OpenFrequencies opens those of the given CPUs below a /sys; none if the kernel does not show all of them, or if they are too many.
func OpenFrequencies(sys string, cpus []int) Frequencies {
	if len(cpus) > maxFrequencies {
		return nil
	}
	var files Frequencies
	for _, cpu := range cpus {
		f, err := Open(filepath.Join(sys, "devices/system/cpu/cpu"+strconv.Itoa(cpu), "cpufreq/scaling_cur_freq"))
		if err != nil {
			files.Close()
			return nil
		}
		files = append(files, f)
	}
	return files
}

// Mean is their mean in kHz; 0 if it is not known.
func (f Frequencies) Mean() int64 {
	var sum int64
	for _, file := range f {
		text, err := file.Read()
		if err != nil {
			return 0
		}
		n, ok := number(text)
		if !ok {
			return 0
		}
		sum += n
	}
	return sum / max(int64(len(f)), 1)
}

// Close closes all files.
func (f Frequencies) Close() {
	for _, file := range f {
		file.Close()
	}
}

// OwnCPUNanos is the CPU time of this process so far, without its children's, in nanoseconds.
func OwnCPUNanos() (int64, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("reading the CPU time of this process: %w", err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano(), nil
}

// FamilyCPUNanos is the CPU time of this process and of those of its children that have ended and were waited for, in nanoseconds.
func FamilyCPUNanos() (int64, error) {
	own, err := OwnCPUNanos()
	if err != nil {
		return 0, err
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0, fmt.Errorf("reading the CPU time of ended children: %w", err)
	}
	return own + usage.Utime.Nano() + usage.Stime.Nano(), nil
}

// ProcessCPUNanos is the CPU time of all threads of a process so far, those that have ended included, in nanoseconds. It is read from the
// process's CPU clock, which nobody needs a privilege for.
func ProcessCPUNanos(pid int) (int64, error) {
	// The kernel makes the number of a process's clock from its complement, shifted by three bits, and 2 for the scheduler's time.
	clock := int32(^pid)<<3 | 2
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	return t.Nano(), nil
}

// ThreadCPUNanos is the CPU time of the calling thread so far, in nanoseconds.
func ThreadCPUNanos() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of a thread: %w", err)
	}
	return t.Nano(), nil
}
