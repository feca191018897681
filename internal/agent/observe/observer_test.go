package observe

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const helperServer = "LOADSTONE_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperServer) {
	case "":
	case helperPort:
		listenUntilKilled()
	case helperWork:
		workWhenTold()
		os.Exit(0)
	default:
		serveUntilKilled()
	}
	os.Exit(m.Run())
}

func serveUntilKilled() {
	fmt.Println("ready")
	for {
		for began := time.Now(); time.Since(began) < time.Millisecond; {
		}
		time.Sleep(9 * time.Millisecond)
	}
}

func child(tb testing.TB) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperServer+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		tb.Fatal(err)
	}
	return cmd
}

func observing(t *testing.T, proc kernel.Proc, pid int) *Observer {
	t.Helper()
	o := New(Config{Dir: t.TempDir(), Port: 1, Cgroup: "/sys/fs/cgroup", FindServer: func(kernel.Proc) (int, error) { return pid, nil }})
	o.proc = proc
	o.sockets = func(port int, _ time.Duration) (*record.Sockets, error) {
		return &record.Sockets{Established: int64(port)}, nil
	}
	return o
}

func fakeServer(t *testing.T, files map[string]string) (*server, string) {
	t.Helper()
	dir := kerneltest.Proc(t, files)
	s, err := openServer(kernel.Proc(dir), 7, Config{Cgroup: "/sys/fs/cgroup"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s, dir
}

func cell(connections int32) record.Cell {
	return record.Cell{Load: "sweep", Tool: record.ToolWrk, Connections: connections, Threads: 1, DurationSeconds: 1}
}

func duetCell() record.Cell {
	c := cell(1)
	c.Order = record.OrderSlicedDuet
	return c
}

func starting(after time.Duration, cells ...record.Cell) protocol.Start {
	return protocol.Start{At: time.Now().Add(after), Targets: []string{"127.0.0.1:80"}, Slots: timetable.Of(cells)}
}

func seen(t *testing.T, o *Observer, start protocol.Start, done func(record.Cell, string)) record.ObserverResult {
	t.Helper()
	result, files, err := o.Measure(t.Context(), start, done)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{samplesFile}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	r, ok := result.(record.ObserverResult)
	if !ok {
		t.Fatalf("the record is a %T", result)
	}
	return r
}

func nothing(record.Cell, string) {}

func TestObserverOfARealProcess(t *testing.T) {
	server := child(t)
	o := observing(t, "/proc", server.Process.Pid)
	var failures []string
	result := seen(t, o, starting(500*time.Millisecond, cell(1), cell(2)), func(_ record.Cell, failure string) {
		failures = append(failures, failure)
		if err := server.Process.Kill(); err != nil && len(failures) == 1 {
			t.Error(err)
		}
	})
	if diff := cmp.Diff([]string{"", "the server's process is gone"}, failures); diff != "" {
		t.Errorf("failures of the cells (-want +got):\n%s", diff)
	}
	first, second := result.Cells[0], result.Cells[1]
	if first.Error != "" || second.Error != errGone.Error() {
		t.Errorf("errors of the cells: %q and %q", first.Error, second.Error)
	}
	if first.CPUNanos <= 0 || first.RSSBytes <= 0 || first.PeakMemoryBytes < first.RSSBytes || first.Threads < 2 || first.Descriptors < 3 {
		t.Errorf("the first cell: %+v", first)
	}
	if first.VoluntarySwitches <= 0 || first.CoreNanos <= 0 || first.BusyNanos <= 0 || first.CPUsAllowed == record.Unknown {
		t.Errorf("the first cell: %+v", first)
	}
	if first.RSSStartBytes <= 0 || first.RSSMiddleBytes <= 0 || first.RunQueueNanos < 0 || first.ObserverCPUNanos <= 0 {
		t.Errorf("the first cell: %+v", first)
	}
	late := strings.Contains(strings.Join(first.Unknown, " "), nameSockets)
	if (first.Sockets == nil) != late || !late && first.Sockets.Established != 1 || second.Sockets != nil {
		t.Errorf("the sockets of the cells: %+v and %+v", first.Sockets, second.Sockets)
	}
	if s := first.Series; s == nil || s.EveryMillis != 100 || len(s.CPUNanos) != 12 || len(s.SegmentsOut) != 12 {
		t.Errorf("the course of the first cell: %+v", first.Series)
	}
	lines, err := os.ReadFile(filepath.Join(o.config.Dir, samplesFile))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(lines)), "\n")
	if rows[0]+"\n" != samplesHeader || len(rows) < 13 || strings.Count(rows[1], ",") != strings.Count(rows[0], ",") {
		t.Errorf("got %d samples, the first %q", len(rows)-1, rows[1])
	}
}

func TestSnapshotsOfACgroup(t *testing.T) {
	v1 := func(cpu, time, periods string) map[string]string {
		return map[string]string{
			"7/root/sys/fs/cgroup/cpuacct/cpuacct.usage":        cpu + "\n",
			"7/root/sys/fs/cgroup/cpu/cpu.stat":                 "nr_periods 9\nnr_throttled " + periods + "\nthrottled_time " + time + "\n",
			"7/root/sys/fs/cgroup/memory/memory.usage_in_bytes": "4096\n",
		}
	}
	v2 := func(cpu, time, periods string) map[string]string {
		return map[string]string{
			"7/root/sys/fs/cgroup/cpu.stat":       "usage_usec " + cpu + "\nuser_usec 1\nnr_periods 9\nnr_throttled " + periods + "\nthrottled_usec " + time + "\n",
			"7/root/sys/fs/cgroup/memory.current": "4096\n",
		}
	}
	pressure := func(micros int64) *int64 { return &micros }
	common := record.CellObservation{
		VoluntarySwitches: 5, InvoluntarySwitches: 1, BusyNanos: 50e6, StealNanos: 10e6, CoreNanos: 90e6, RunQueueNanos: 47,
		PressureMicros: pressure(234),
		Network:        record.Network{ActiveOpens: 1, PassiveOpens: 13, SegmentsOut: 400, Retransmits: 2, TimeWait: 8, Handshakes: &record.Handshakes{ListenOverflows: 10, ListenDrops: 20, SynRetransmits: 30}},
	}
	with := func(change func(*record.CellObservation)) record.CellObservation {
		c := common
		change(&c)
		return c
	}
	tests := map[string]struct {
		before, after map[string]string
		want          record.CellObservation
	}{
		"version 1 counts in nanoseconds": {
			before: v1("1000", "50", "1"), after: v1("5500", "80", "3"),
			want: with(func(c *record.CellObservation) { c.CPUNanos, c.ThrottledNanos, c.ThrottledPeriods = 4500, 30, 2 }),
		},
		"version 2 counts in microseconds": {
			before: v2("1000", "50", "1"), after: v2("5500", "80", "3"),
			want: with(func(c *record.CellObservation) { c.CPUNanos, c.ThrottledNanos, c.ThrottledPeriods = 4500e3, 30e3, 2 }),
		},
		"version 2 without a quota's counters": {
			before: map[string]string{"7/root/sys/fs/cgroup/cpu.stat": "usage_usec 1\n"},
			after:  map[string]string{"7/root/sys/fs/cgroup/cpu.stat": "usage_usec 2\n"},
			want: with(func(c *record.CellObservation) {
				c.CPUNanos = 1000
				c.Unknown = []string{"The throttling of the server is unknown: reading the cgroup's throttling: the number is missing."}
			}),
		},
		"no cgroup at all: the processes' time": {
			before: map[string]string{},
			after:  map[string]string{"8/stat": "8 (child) S 7 7 7 0 -1 4194560 1 0 0 0 4 1 0 0 20 0 2 0 600 1000 5"},
			want: with(func(c *record.CellObservation) {
				c.CPUNanos = 30e6
				c.Unknown = []string{"The throttling of the server is unknown: "}
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, proc := fakeServer(t, tc.before)
			before := s.snapshot()
			kerneltest.Rewrite(t, proc, tc.after)
			kerneltest.Rewrite(t, proc, map[string]string{
				"7/task/7/status":    "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t4\n",
				"7/task/7/schedstat": "200 40 3\n",
				"7/task/9/status":    "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t0\n",
				"7/task/9/schedstat": "9 17 3\n",
				"7/net/snmp":         kerneltest.SNMP(6, 20, 500, 3),
				"7/net/netstat":      kerneltest.Netstat(12, 23, 34),
				"7/net/sockstat":     "TCP: inuse 2 orphan 0 tw 8 alloc 4 mem 1\n",
				"pressure/cpu":       "some avg10=1.00 avg60=0.00 avg300=0.00 total=1234\nfull total=5\n",
				"stat":               "cpu  1 1\ncpu1 13 1 6 103 2 1 1 5 3 0\ncpu3 21 0 0 10 0 0 0 0 0 0\nintr 1\n",
			})
			var got record.CellObservation
			difference(&got, before, s.snapshot())
			tc.want.Started, tc.want.Ended = got.Started, got.Ended
			if got.ObserverCPUNanos <= 0 {
				t.Errorf("the observer used %d ns itself", got.ObserverCPUNanos)
			}
			tc.want.ObserverCPUNanos = got.ObserverCPUNanos
			prefix := cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
			if diff := cmp.Diff(tc.want, got, prefix); diff != "" {
				t.Errorf("difference (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndOfACell(t *testing.T) {
	s, proc := fakeServer(t, nil)
	var got record.CellObservation
	if err := s.describeEnd(&got); err != nil {
		t.Fatal(err)
	}
	want := record.CellObservation{RSSBytes: 30 * int64(os.Getpagesize()), Threads: 5, Descriptors: 3}
	want.PeakMemoryBytes = want.RSSBytes
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("describeEnd() (-want +got):\n%s", diff)
	}
	if s.allowed != "1,3" {
		t.Errorf("allowed CPUs = %q", s.allowed)
	}
	if err := os.RemoveAll(filepath.Join(proc, "8/fd")); err != nil {
		t.Fatal(err)
	}
	kerneltest.Rewrite(t, proc, map[string]string{"7/statm": "0 0 0 0 0 0 0\n"})
	if err := s.describeEnd(&got); err == nil {
		t.Error("a process without memory was not taken for gone")
	}
	kerneltest.Rewrite(t, proc, map[string]string{"7/statm": "1000 25 3 1 0 90 0\n"})
	if err := s.describeEnd(&got); err != nil || len(got.Unknown) != 1 || !strings.HasPrefix(got.Unknown[0], nameFiles+" is unknown: ") {
		t.Errorf("after losing the descriptors: error %v, unknown %q", err, got.Unknown)
	}
}

func TestOldestParentless(t *testing.T) {
	tests := map[string]struct {
		all  []kernel.Process
		self int
		want int
	}{
		"the container beside the observer": {
			all: []kernel.Process{{PID: 1}, {PID: 7, Started: 5}, {PID: 8, Parent: 7, Started: 6}, {PID: 20, Started: 9}}, self: 20, want: 7,
		},
		"the observer started first":        {all: []kernel.Process{{PID: 1}, {PID: 7, Started: 5}, {PID: 20, Started: 9}}, self: 7, want: 20},
		"the observer below a shell":        {all: []kernel.Process{{PID: 1}, {PID: 7, Started: 1}, {PID: 8, Parent: 7}, {PID: 20, Started: 9}}, self: 8, want: 20},
		"somebody looks into the container": {all: []kernel.Process{{PID: 1}, {PID: 7, Started: 5}, {PID: 9, Started: 7}, {PID: 20, Started: 30}}, self: 9, want: 7},
		"no server yet":                     {all: []kernel.Process{{PID: 1}, {PID: 7, Started: 5}}, self: 7},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := oldestParentless(tc.all, tc.self)
			if got != tc.want || ok != (tc.want != 0) {
				t.Errorf("oldestParentless() = %d, %v; want %d", got, ok, tc.want)
			}
		})
	}
}
