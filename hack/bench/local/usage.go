package local

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

// Usage is what the machine, and this program with its children that have ended, have used up to an instant.
type Usage struct {
	at                time.Time
	busy, steal, ours time.Duration
}

// NewUsage looks at the machine. No child may be running then, nor when Since is called.
func NewUsage() Usage {
	u := Usage{at: time.Now()}
	if text, err := os.ReadFile("/proc/stat"); err == nil {
		u.busy, u.steal = parseStat(string(text))
	}
	// /proc/stat looks at each tick who runs, and so may count a server that works in short bursts twice; this is exact.
	if exact, ok := cpuacct("/sys/fs/cgroup/cpuacct"); ok {
		u.busy = exact
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err == nil {
			u.ours += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return u
}

// cpuacct is what all processes of the machine have used, if a folder is that of the first of all cgroups in version 1, which alone
// has a release agent. Version 2 counts by ticks there.
func cpuacct(dir string) (time.Duration, bool) {
	if _, err := os.Stat(dir + "/release_agent"); err != nil {
		return 0, false
	}
	text, err := os.ReadFile(dir + "/cpuacct.usage")
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Duration(n), err == nil
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

// Since tells how many CPUs others used, and how many were stolen, on average.
func (u Usage) Since() (strangers, steal float64) {
	now := NewUsage()
	seconds := now.at.Sub(u.at).Seconds()
	return ((now.busy - u.busy) - (now.ours - u.ours)).Seconds() / seconds, (now.steal - u.steal).Seconds() / seconds
}

// Machine names the kernel and the CPU.
func Machine() string {
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
