package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// cpuTime is what all threads of a process have used, those that have ended included, by the process's CPU clock.
func cpuTime(pid int) (time.Duration, error) {
	// The kernel makes a clock's number of a process's: its complement, shifted by three bits, with 2 for the scheduler's time.
	clock := uintptr((^pid)<<3 | 2)
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, errno)
	}
	return time.Duration(t.Nano()), nil
}

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

// usage is what the machine, and this program with its children that have ended, have used up to an instant.
type usage struct {
	at                time.Time
	busy, steal, ours time.Duration
}

func newUsage() usage {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return usage{at: time.Now()}
	}
	u := usage{at: time.Now()}
	u.busy, u.steal = parseStat(string(text))
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err == nil {
			u.ours += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return u
}

// parseStat adds up the first line: user, nice, system, idle, iowait, irq, softirq, steal.
func parseStat(text string) (busy, steal time.Duration) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	for i, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			continue
		}
		switch i {
		case 1, 2, 3, 6, 7:
			busy += time.Duration(n) * tick
		case 8:
			steal = time.Duration(n) * tick
		}
	}
	return busy, steal
}

// since tells how many CPUs others used, and how many were stolen, on average.
func (u usage) since() (strangers, steal float64) {
	now := newUsage()
	seconds := now.at.Sub(u.at).Seconds()
	return ((now.busy - u.busy) - (now.ours - u.ours)).Seconds() / seconds, (now.steal - u.steal).Seconds() / seconds
}

// machine names the kernel and the CPU.
func machine() string {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown kernel")
	}
	cpu := "unknown CPU"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			cpu = strings.TrimSpace(strings.TrimLeft(line, "\t :"))
		}
	}
	return strings.TrimSpace(string(kernel)) + ", " + cpu
}
