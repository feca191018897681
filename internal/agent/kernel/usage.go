package kernel

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// OwnCPUNanos returns this process's CPU time so far without its children, in nanoseconds.
func OwnCPUNanos() (int64, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("reading the CPU time of this process: %w", err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano(), nil
}

// FamilyCPUNanos returns the CPU time of this process and its waited-for children, in nanoseconds.
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

// ProcessCPUNanos returns the CPU time of all threads of a process, ended ones included, in nanoseconds. It reads the process's CPU clock,
// which needs no privileges.
func ProcessCPUNanos(pid int) (int64, error) {
	// The kernel's clock ID: the PID's complement shifted by three bits, plus 2 for the scheduler's time.
	clock := int32(^pid)<<3 | 2
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	return t.Nano(), nil
}

// ThreadCPUNanos returns the calling thread's CPU time so far, in nanoseconds.
func ThreadCPUNanos() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of a thread: %w", err)
	}
	return t.Nano(), nil
}
