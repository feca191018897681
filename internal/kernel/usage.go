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

// ThreadCPUNanos is the CPU time of the calling thread so far, in nanoseconds.
func ThreadCPUNanos() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of a thread: %w", err)
	}
	return t.Nano(), nil
}
