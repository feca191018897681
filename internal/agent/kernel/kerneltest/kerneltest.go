// Package kerneltest makes fake /proc and /sys folders, and measures a benchmark's own CPU time.
package kerneltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// SNMP returns a /proc/net/snmp with some TCP counters.
func SNMP(active, passive, out, again int) string {
	return fmt.Sprintf("Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens CurrEstab OutSegs RetransSegs\n"+
		"Tcp: 1 -1 %d %d 9 %d %d\nUdp: InDatagrams\nUdp: 3\n", active, passive, out, again)
}

// Netstat returns a /proc/net/netstat with handshake counters.
func Netstat(overflows, drops, again int) string {
	return fmt.Sprintf("TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans TCPOrigDataSent\nTcpExt: 0 %d %d %d 99\n"+
		"IpExt: InNoRoutes ListenDrops\nIpExt: 1 77\n", overflows, drops, again)
}

// Proc writes a /proc with a server (process 7), its child (process 8) and the given files, and returns its folder.
func Proc(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	Rewrite(t, dir, map[string]string{
		"7/stat":             "7 (my (server)) S 0 7 7 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 3 0 500 1000 25",
		"7/statm":            "1000 25 3 1 0 90 0\n",
		"7/status":           "Name:\tx\nThreads:\t3\nCpus_allowed_list:\t1,3\n",
		"7/task/7/status":    "voluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t3\n",
		"7/fd/0":             "",
		"7/task/7/schedstat": "100 10 3\n",
		"7/net/snmp":         SNMP(5, 7, 100, 1),
		"7/net/netstat":      Netstat(2, 3, 4),
		"7/net/sockstat":     "sockets: used 9\nTCP: inuse 2 orphan 0 tw 3 alloc 4 mem 1\nUDP: inuse 0 mem 0\n",
		"pressure/cpu":       "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"8/stat":             "8 (child) S 7 7 7 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 2 0 600 1000 5",
		"8/statm":            "100 5 3 1 0 90 0\n",
		"8/task/8/schedstat": "0 5 3\n",
		"8/task/8/status":    "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t0\n",
		"8/fd/0":             "",
		"8/fd/1":             "",
		"stat": "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\ncpu1 10 1 5 100 2 1 1 4 3 0\n" +
			"cpu3 20 0 0 10 0 0 0 0 0 0\ncpu13 7 7 7 7 7 7 7 7 0 0\nintr 1 2 3\n",
	})
	Rewrite(t, dir, files)
	return dir
}

// Rewrite changes files in place, so that open files show the new text.
func Rewrite(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// OwnTime measures a function's CPU time, which other load on the machine does not prolong. spent returns the CPU time so far.
func OwnTime(b *testing.B, spent func() (int64, error), f func()) {
	b.Helper()
	before, err := spent()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f()
	}
	after, err := spent()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
}

// Node is a machine seen by a process that may use all of its CPUs: cgroups of version 2, with a quota of two CPUs above the process. Each
// CPU has been busy for as many ticks as its number, and idle for 100.
func Node(cpus, threads int, adjacent bool) fstest.MapFS {
	root := fstest.MapFS{}
	add := func(name, text string) { root[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	all := fmt.Sprintf("0-%d", cpus-1)
	times := strings.Builder{}
	times.WriteString("cpu  1 0 0 1 0 0 0 0 0 0\n")
	cores := cpus / threads
	for cpu := range cpus {
		var siblings []string
		for thread := range threads {
			sibling := cpu%cores + thread*cores
			if adjacent {
				sibling = cpu/threads*threads + thread
			}
			siblings = append(siblings, fmt.Sprint(sibling))
		}
		list := strings.Join(siblings, ",")
		if adjacent && threads > 1 {
			list = siblings[0] + "-" + siblings[threads-1] // The kernel prints neighbors this way.
		}
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		add(dir+"topology/thread_siblings_list", list)
		add(dir+"cpufreq/scaling_governor", "performance")
		fmt.Fprintf(&times, "cpu%d %d 0 0 100 0 0 0 0 0 0\n", cpu, cpu)
	}
	add("proc/stat", times.String()+"intr 1")
	add("proc/self/status", "Name:\tagent\nCpus_allowed_list:\t"+all)
	add("proc/self/cgroup", "0::/kubepods.slice/pod.slice")
	add("sys/devices/system/cpu/online", all)
	add("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids")
	add("sys/fs/cgroup/kubepods.slice/cpu.max", "200000 100000")
	add("sys/fs/cgroup/kubepods.slice/pod.slice/cpu.max", "max 100000")
	return root
}
