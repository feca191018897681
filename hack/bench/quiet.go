package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// quietLimit is how many CPUs others may use of a machine that counts as quiet.
const quietLimit = 0.1

// meter tells how much CPU others than the cluster and this program use. It works on the machine on which hack/cluster runs, whose
// processes are all in one cgroup.
type meter struct {
	at     time.Time
	others time.Duration
	known  bool
}

func newMeter() meter {
	m := meter{at: time.Now()}
	all, okAll := cpuTime("/sys/fs/cgroup", "")
	ours, okOurs := cpuTime("/sys/fs/cgroup", "loadstone")
	m.others, m.known = all-ours-ownTime(), okAll && okOurs
	return m
}

// strangers is the number of CPUs that others have used on average since the meter was made.
func (m meter) strangers() (float64, bool) {
	now := newMeter()
	return (now.others - m.others).Seconds() / now.at.Sub(m.at).Seconds(), m.known && now.known
}

// cpuTime is what all processes of a cgroup have used, by cgroup v2 or else by v1's cpuacct.
func cpuTime(root, group string) (time.Duration, bool) {
	if text, err := os.ReadFile(root + "/" + group + "/cpu.stat"); err == nil {
		if _, rest, ok := bytes.Cut(text, []byte("usage_usec ")); ok {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			return number(line, time.Microsecond)
		}
	}
	text, err := os.ReadFile(root + "/cpuacct/" + group + "/cpuacct.usage")
	if err != nil {
		return 0, false
	}
	return number(bytes.TrimSpace(text), time.Nanosecond)
}

func number(text []byte, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n) * unit, err == nil
}

func ownTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
