package generate

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func buildFaulty(tb testing.TB) string {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), "faulty")
	if out, err := exec.CommandContext(tb.Context(), "go", "build", "-o", program, "../../../workloads/faulty").CombinedOutput(); err != nil {
		tb.Fatalf("building the server: %v\n%s", err, out)
	}
	return program
}

func faultyServer(tb testing.TB, program string, flags ...string) (pid, port int) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), program, append([]string{"--port=0"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	found := regexp.MustCompile(`listening on \S+:(\d+), `).FindStringSubmatch(line)
	if err != nil || found == nil {
		tb.Fatalf("the server does not say where it listens: %q, %v", line, err)
	}
	if port, err = strconv.Atoi(found[1]); err != nil {
		tb.Fatal(err)
	}
	return cmd.Process.Pid, port
}

func observedLoad(t *testing.T, pid, port int, c record.Cell) (record.CellRun, record.CellObservation) {
	t.Helper()
	generator := newBench(t, withTool(wrk.Tool{}))
	observer := observe.New(observe.Config{
		Dir: t.TempDir(), Port: port, Cgroup: "/sys/fs/cgroup", FindServer: func(kernel.Proc) (int, error) { return pid, nil },
	})
	start := protocol.Start{
		At: time.Now().Add(500 * time.Millisecond), Targets: []string{"127.0.0.1:" + strconv.Itoa(port)}, Slots: timetable.Of([]record.Cell{c}),
	}
	type seen struct {
		result any
		err    error
	}
	ended := make(chan seen, 1)
	go func() {
		result, _, err := observer.Measure(t.Context(), start, func(record.Cell, string) {})
		ended <- seen{result, err}
	}()
	load, saw := generator.measure(start), <-ended
	result, ok := saw.result.(record.ObserverResult)
	if saw.err != nil || !ok {
		t.Fatalf("the observer's record is a %T, error %v", saw.result, saw.err)
	}
	return load.Cells[0], result.Cells[0]
}

// The record must show faults that wrk misses. On a stalled machine the observer may look too late and the audit may lack time: then the test
// retries.
func TestTheRecordShowsWhatWrkDoesNotNotice(t *testing.T) {
	testbed.Programs(t, "wrk")
	program := buildFaulty(t)
	hung := func(o record.CellObservation) int64 {
		if o.Sockets == nil || o.Sockets.Hung == nil {
			return -1
		}
		return *o.Sockets.Hung
	}
	for name, tc := range map[string]struct {
		flags []string
		shows func(record.CellRun, record.CellObservation) bool
	}{
		"no fault": {shows: func(r record.CellRun, o record.CellObservation) bool {
			a := r.MeasuredAudit
			return hung(o) == 0 && o.Sockets.Established == 8 && o.Sockets.Unanswered == 0 && a.Requests > 0 && a.WrongBody+a.WrongStatus+a.Failed == 0
		}},
		"requests that hang": {
			flags: []string{"--hang-every=200"},
			shows: func(_ record.CellRun, o record.CellObservation) bool { return hung(o) > 0 && o.Sockets.Unanswered == 0 },
		},
		"bodies that go wrong": {
			flags: []string{"--wrong-body-after=100ms"},
			shows: func(r record.CellRun, _ record.CellObservation) bool { return r.MeasuredAudit.WrongBody > 0 },
		},
		"a full queue": {
			flags: []string{"--backlog=1", "--accept-pause=200ms"},
			shows: func(r record.CellRun, o record.CellObservation) bool {
				return o.Network.Handshakes.ListenOverflows > 0 && r.Network.Handshakes.SynRetransmits > 0
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for end := time.Now().Add(patience); time.Now().Before(end); {
				pid, port := faultyServer(t, program, tc.flags...)
				c := expecting("helloworld")
				c.Connections, c.WarmupSeconds, c.DurationSeconds = 8, 0, 2
				r, o := observedLoad(t, pid, port, c)
				if r.Error != "" || r.Measurement.Errors.Sum()-r.Measurement.Errors.Timeout > 0 || o.Error != "" {
					t.Fatalf("errors %q and %q, wrk noticed %+v", r.Error, o.Error, r.Measurement)
				}
				if tc.shows(r, o) {
					return
				}
				t.Logf("audit %+v, sockets %+v with %d hung, handshakes %+v and %+v, unknown %q", r.MeasuredAudit, o.Sockets, hung(o), r.Network.Handshakes, o.Network.Handshakes, o.Unknown)
			}
			t.Error("the record shows nothing of it")
		})
	}
}
