package agent

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// helperServer is an environment variable that turns the test binary into a server to observe.
const helperServer = "LOADSTONE_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(helperServer) != "" {
		serveUntilKilled()
	}
	os.Exit(m.Run())
}

// serveUntilKilled prints a line and burns about a tenth of a CPU.
func serveUntilKilled() {
	fmt.Println("ready")
	for {
		for began := time.Now(); time.Since(began) < time.Millisecond; {
		}
		time.Sleep(9 * time.Millisecond)
	}
}

// child starts the helper.
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

// observing makes an observer of a known process in a given /proc.
func observing(proc kernel.Proc, pid int) func(Config) worker {
	return func(c Config) worker {
		o := NewObserver(c, 1)
		o.proc, o.find = proc, func() (int, error) { return pid, nil }
		o.sockets = func(port int, _ time.Duration) (*record.Sockets, error) {
			return &record.Sockets{Established: int64(port)}, nil
		}
		return o
	}
}

func TestObserverOfARealProcess(t *testing.T) {
	server := child(t)
	b := newBench(t, observing("/proc", server.Process.Pid))
	start := protocol.Start{
		At: time.Now().Add(500 * time.Millisecond), Target: "127.0.0.1:80",
		Slots: protocol.Timetable([]v1alpha1.Cell{cell(1, 0), cell(2, 0)}),
	}
	b.must(protocol.Order{Start: &start})
	b.await("past its first cell", func(s protocol.State) bool { return s.CellsDone == 1 })
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	state := b.await("Measured", measured)
	if state.Message != "sweep-2: the server's process is gone" {
		t.Errorf("message = %q", state.Message)
	}
	var result record.ObserverResult
	b.result(&result)
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
	checkFiles(t, b.dir, state.Files, "samples.csv", "result.json")
	lines, err := os.ReadFile(filepath.Join(b.dir, samplesFile))
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
				c.Unknown = []string{"The throttling of the server is unknown: reading the cgroup's throttling: the number is not there."}
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
			proc := kernel.Proc(kerneltest.Proc(t, tc.before))
			s, err := openServer(proc, 7)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			before := s.snapshot()
			kerneltest.Rewrite(t, string(proc), tc.after)
			kerneltest.Rewrite(t, string(proc), map[string]string{
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
	proc := kernel.Proc(kerneltest.Proc(t, nil))
	s, err := openServer(proc, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
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
	if err := os.RemoveAll(filepath.Join(string(proc), "8/fd")); err != nil {
		t.Fatal(err)
	}
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/statm": "0 0 0 0 0 0 0\n"})
	if err := s.describeEnd(&got); err == nil {
		t.Error("a process without memory was not taken for gone")
	}
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/statm": "1000 25 3 1 0 90 0\n"})
	if err := s.describeEnd(&got); err != nil || len(got.Unknown) != 1 || !strings.HasPrefix(got.Unknown[0], nameFiles+" is unknown: ") {
		t.Errorf("after losing the descriptors: error %v, unknown %q", err, got.Unknown)
	}
}

func TestFindServer(t *testing.T) {
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
			got, ok := findServer(tc.all, tc.self)
			if got != tc.want || ok != (tc.want != 0) {
				t.Errorf("findServer() = %d, %v; want %d", got, ok, tc.want)
			}
		})
	}
}

func TestObserverSeesThePort(t *testing.T) {
	target := newTarget(t, hello)
	port, err := strconv.Atoi(target[strings.LastIndex(target, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c Config) worker { return NewObserver(c, port) })
	b.await("listening", func(s protocol.State) bool { return s.Listening })
	if status, _, text := b.order(protocol.Order{Check: &protocol.Check{}}); status != 422 {
		t.Errorf("a check was answered %d: %s", status, text)
	}
}
