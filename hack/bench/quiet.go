package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// quietLimit is how many CPUs others may use of a machine that counts as quiet. Up to a tenth is the cluster's own: what starts
// containers lives so briefly that with cgroup v1 it is counted among the others.
const quietLimit = 0.15

const tick = 10 * time.Millisecond

// host is where a machine shows what its processes use.
type host struct{ cgroups, proc string }

// meter tells how much CPU others than the cluster and this program use. It works on the machine on which hack/cluster runs, whose
// processes are all in cgroups of one name.
type meter struct {
	host   host
	at     time.Time
	others time.Duration
	known  bool
}

// machine is this one.
var machine = host{"/sys/fs/cgroup", "/proc"}

// newMeter begins to count.
func newMeter(h host) meter {
	all, okAll := h.cpuTime("")
	ours, okOurs := h.clusterTime()
	return meter{host: h, at: time.Now(), others: all - ours - ownTime(), known: okAll && okOurs}
}

// strangers is the number of CPUs that others have used on average since the meter was made; false if that cannot be seen here.
func (m meter) strangers() (float64, bool) {
	now := newMeter(m.host)
	return (now.others - m.others).Seconds() / now.at.Sub(m.at).Seconds(), m.known && now.known
}

// clusterTime is what the cluster has used. With cgroup v1 the servers outside of pods are in a cpuset, but account to nobody.
func (h host) clusterTime() (time.Duration, bool) {
	sum, known := h.cpuTime("loadstone")
	list, err := os.ReadFile(filepath.Join(h.cgroups, "cpuset/loadstone/system/cgroup.procs"))
	if err != nil {
		return sum, known
	}
	for pid := range strings.FieldsSeq(string(list)) {
		if stat, err := os.ReadFile(filepath.Join(h.proc, pid, "stat")); err == nil {
			sum += processTime(string(stat))
		}
	}
	return sum, known
}

// processTime is what a process and its children that have ended have used, by the fields 14 to 17 of its stat.
func processTime(stat string) time.Duration {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const first, last = 14 - 3, 17 - 3
	var ticks int64
	for i := first; i <= last && i < len(fields); i++ {
		if n, err := strconv.ParseInt(fields[i], 10, 64); err == nil {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

// cpuTime is what all processes of a cgroup have used, by cgroup v2 or else by v1's cpuacct.
func (h host) cpuTime(group string) (time.Duration, bool) {
	if text, err := os.ReadFile(filepath.Join(h.cgroups, group, "cpu.stat")); err == nil {
		if _, rest, ok := bytes.Cut(text, []byte("usage_usec ")); ok {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			return number(line, time.Microsecond)
		}
	}
	text, err := os.ReadFile(filepath.Join(h.cgroups, "cpuacct", group, "cpuacct.usage"))
	if err != nil {
		return 0, false
	}
	return number(bytes.TrimSpace(text), time.Nanosecond)
}

func number(text []byte, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n) * unit, err == nil
}

// ownTime is what this program has used.
func ownTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
