package kernel

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

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
