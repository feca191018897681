// Package kerneltest makes folders that look like a /proc or a /sys, and says what a benchmark costs its own thread.
package kerneltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// SNMP is a /proc/net/snmp with some counters of TCP.
func SNMP(active, passive, out, again int) string {
	return fmt.Sprintf("Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens CurrEstab OutSegs RetransSegs\n"+
		"Tcp: 1 -1 %d %d 9 %d %d\nUdp: InDatagrams\nUdp: 3\n", active, passive, out, again)
}

// Netstat is a /proc/net/netstat with the counters of handshakes.
func Netstat(overflows, drops, again int) string {
	return fmt.Sprintf("TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans TCPOrigDataSent\nTcpExt: 0 %d %d %d 99\n"+
		"IpExt: InNoRoutes ListenDrops\nIpExt: 1 77\n", overflows, drops, again)
}

// Proc writes a /proc with one server, process 7, and its child, process 8, and returns its folder. The given files are added to it.
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

// Rewrite changes files in place, so that files that are open show the new text.
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

// OwnTime measures the CPU time of a function beside its duration, which others on the machine prolong. spent is the CPU time so far.
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

// Node is a machine as its kernel shows it to a process that may use all of its CPUs: with cgroups of version 2, on which a quota of two CPUs lies
// above the process' own. A core has some hardware threads, whose numbers lie next to each other or half of the machine apart, as firmware numbers
// them. Each CPU has been busy for as many ticks as its number says, and idle for a hundred.
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
			list = siblings[0] + "-" + siblings[threads-1] // The kernel prints neighbours so.
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
