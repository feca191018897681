package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// CPUTime is what all threads of a process have used, those that have ended included, by the process's CPU clock.
func CPUTime(pid int) (time.Duration, error) {
	// The kernel makes a clock's number of a process's: its complement, shifted by three bits, with 2 for the scheduler's time.
	clock := uintptr((^pid)<<3 | 2)
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, errno)
	}
	return time.Duration(t.Nano()), nil
}

// Family is a process with its children and theirs.
func Family(pid int) ([]int, error) {
	family := []int{pid}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		return nil, fmt.Errorf("looking for the children of process %d: %w", pid, errors.Join(err, os.ErrNotExist))
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			return nil, fmt.Errorf("looking for the children of process %d: %w", pid, err)
		}
		for field := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", list, err)
			}
			more, err := Family(child)
			if err != nil {
				return nil, err
			}
			family = append(family, more...)
		}
	}
	return family, nil
}

// CPUTimes is the sum over processes. One that has ended is an error, since its time is no longer known.
func CPUTimes(pids []int) (sum time.Duration, err error) {
	for _, pid := range pids {
		t, err := CPUTime(pid)
		if err != nil {
			return 0, err
		}
		sum += t
	}
	return sum, nil
}

// ResidentMemory is the bytes of memory that a process has, counted page by page: what /proc/PID/status says is approximate.
func ResidentMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return parseResident(string(text))
}

func parseResident(text string) (int64, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "Rss:" && fields[2] == "kB" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading a process's memory: %w", err)
			}
			return n << 10, nil
		}
	}
	return 0, errors.New("reading a process's memory: there is no line of it")
}

// StayOn keeps this program, and so what it starts without a place of its own, on some CPUs.
func StayOn(ctx context.Context, cpus string) error {
	out, err := exec.CommandContext(ctx, "taskset", "--all-tasks", "--cpu-list", "--pid", cpus, strconv.Itoa(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("binding this program to CPU %s: %w: %s", cpus, err, out)
	}
	return nil
}

// Rest waits.
func Rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("measuring: %w", ctx.Err())
	}
}
