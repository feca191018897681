package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/hack/figures"
)

// quietLimit is how many CPUs other programs may use on a quiet machine. Up to 0.1 is the cluster's own: with cgroup v1 the short-lived programs that
// start containers count as others.
const quietLimit = 0.15

// measurement is one benchmark. It measures the CPU time of other programs since its start.
type measurement struct {
	*testing.B
	began  time.Time
	others time.Duration
}

func begin(b *testing.B) measurement {
	b.Helper()
	return measurement{B: b, began: time.Now(), others: othersTime("/sys/fs/cgroup", "/proc")}
}

func (m measurement) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// sized returns the full value, or the small one with -short.
func sized[N int | int32 | time.Duration](full, small N) N {
	if testing.Short() {
		return small
	}
	return full
}

// report logs figures, with a note if others used the machine.
func (m measurement) report(list ...figures.Figure) {
	m.Helper()
	used := (othersTime("/sys/fs/cgroup", "/proc") - m.others).Seconds() / time.Since(m.began).Seconds()
	for _, f := range list {
		if used > quietLimit {
			f.Note = fmt.Sprintf("NOT QUIET: others used %.2f CPUs; %s", used, f.Note)
		}
		m.Log(f.Line())
	}
}

// othersTime is the CPU time of all processes except this program and the cluster of hack/cluster, whose cgroups have one name. With cgroup v1
// servers outside pods are in a cpuset and are counted one by one.
func othersTime(cgroups, proc string) time.Duration {
	others := groupTime(cgroups, "") - groupTime(cgroups, "loadstone")
	list, err := os.ReadFile(filepath.Join(cgroups, "cpuset/loadstone/system/cgroup.procs"))
	if err == nil {
		for pid := range strings.FieldsSeq(string(list)) {
			others -= processTime(filepath.Join(proc, pid))
		}
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			others -= time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return others
}

// groupTime is the CPU time of a cgroup (v2, or v1's cpuacct); 0 if unknown.
func groupTime(cgroups, group string) time.Duration {
	if text, err := os.ReadFile(filepath.Join(cgroups, group, "cpu.stat")); err == nil {
		_, rest, _ := strings.Cut(string(text), "usage_usec ")
		line, _, _ := strings.Cut(rest, "\n")
		return time.Duration(number(line)) * time.Microsecond
	}
	text, err := os.ReadFile(filepath.Join(cgroups, "cpuacct", group, "cpuacct.usage"))
	if err != nil {
		return 0
	}
	return time.Duration(number(string(text)))
}

// processTime is the CPU time of a process and its ended children (fields 14 to 17 of its stat); 0 if it has ended.
func processTime(folder string) time.Duration {
	const first, last, tick = 14 - 3, 17 - 3, 10 * time.Millisecond
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if err != nil || len(fields) <= last {
		return 0
	}
	var ticks int64
	for _, f := range fields[first : last+1] {
		ticks += number(f)
	}
	return time.Duration(ticks) * tick
}

// number is 0 for a text that is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func TestCPUTimeOfTheClusterIsNotOthers(t *testing.T) {
	write := func(root, name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, files := range map[string]map[string]string{
		"cgroup v2": {"cpu.stat": "usage_usec 500000000\nuser_usec 4000\n", "loadstone/cpu.stat": "usage_usec 200000000\nuser_usec 4000\n"},
		"cgroup v1, whose servers outside of pods are counted one by one": {
			"cpuacct/cpuacct.usage": "500000000000\n", "cpuacct/loadstone/cpuacct.usage": "199800000000\n", "cpuset/loadstone/system/cgroup.procs": "12\n13\n14\n",
			"12/stat": "12 (kube) 1 (x) S 1 12 12 0 -1 0 0 0 0 0 1 2 3 4 20 0 9 0 77\n",
			"13/stat": "13 (etcd) S 1 13 13 0 -1 0 0 0 0 0 10 0 0 0 20 0 9 0 77\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cgroups, proc := t.TempDir(), t.TempDir()
			for file, text := range files {
				write(cgroups, file, text)
				write(proc, file, text)
			}
			own := othersTime(t.TempDir(), proc) // Nothing but this program, counted negative.
			if got := (othersTime(cgroups, proc) - own).Round(time.Second); got != 300*time.Second {
				t.Errorf("others used %s, want 5m0s", got)
			}
		})
	}
}
