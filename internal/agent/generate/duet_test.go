package generate

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func duetCell(connections, warmup int32) record.Cell {
	c := cell(connections, warmup)
	c.Order = record.OrderSlicedDuet
	return c
}

type sides struct {
	mu       sync.Mutex
	count    [2]int
	last     int
	switches int
}

func (s *sides) handler(side int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.count[side]++; side != s.last {
			s.switches++
		}
		s.last = side
		s.mu.Unlock()
		hello(w, r)
	}
}

func (s *sides) both() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[0] > 0 && s.count[1] > 0
}

func TestADuetSharesTheLoadEqually(t *testing.T) {
	testbed.Programs(t, "wrk")
	var seen sides
	b := newBench(t, withTool(wrk.Tool{}))
	one, other := newTarget(t, seen.handler(0)), newTarget(t, seen.handler(1))
	b.generator.Check(t.Context(), protocol.Check{Targets: []string{one, other}, Requests: []record.Request{cell(1, 0).Request}})
	start := protocol.Start{
		At: time.Now().Add(300 * time.Millisecond), Targets: []string{one, other},
		Slots: timetable.Of([]record.Cell{duetCell(2, 1), duetCell(4, 0)}),
	}
	result := b.measure(start)
	if len(result.failures) != 2 || result.message() != "" {
		t.Errorf("got %d cells done, message %q", len(result.failures), result.message())
	}
	if len(result.Cells) != 4 || !strings.HasPrefix(result.Environment.ToolVersion, "wrk ") {
		t.Fatalf("got %d cells, tools %s", len(result.Cells), result.Environment.ToolVersion)
	}
	if len(result.Responses) != 2 || result.Responses[0].Server != 0 || result.Responses[1].Server != 1 {
		t.Errorf("the answers are %+v", result.Responses)
	}
	for i := range start.Slots {
		one, other := result.Cells[2*i], result.Cells[2*i+1]
		if one.Server != 0 || other.Server != 1 {
			t.Fatalf("cell %d: runs against servers %d and %d", i, one.Server, other.Server)
		}
		for _, c := range []record.CellRun{one, other} {
			if c.Error != "" || c.Measurement == nil || c.Measurement.ToolVersion == "" || c.Measurement.Requests == 0 || c.Measurement.Errors != (record.Errors{}) || c.CPUNanos == 0 || c.CPUsAllowed == record.Unknown {
				t.Fatalf("cell %d: %+v %+v", i, c, c.Measurement)
			}
			if c.Point != record.PointOf(start.Slots[i].Cell) || c.Measurement.Args[6] != "2s" {
				t.Errorf("cell %d is %+v with %q", i, c.Point, c.Measurement.Args)
			}
			// A busy machine may prolong a slice; the total cannot exceed the tool's lifetime.
			if active := time.Duration(c.ActiveNanos); active <= 0 || active > time.Duration(c.Measurement.DurationMicros)*time.Microsecond {
				t.Errorf("cell %d was active for %v of %d µs", i, active, c.Measurement.DurationMicros)
			}
		}
		if one.Turns != other.Turns || one.Turns != 11 {
			t.Errorf("cell %d: %d and %d slices, want 10 and the last", i, one.Turns, other.Turns)
		}
	}
	// After each slice the other server may still answer requests in flight: at most one per connection. The remainder is for checks and
	// audits of both, which ignore slices.
	const slices, connections, others = 3 * 2 * 11, 4, 300
	if most := slices*(1+2*connections) + others; seen.switches > most {
		t.Errorf("of %v answers %d came after one of the other server, at most %d may: both were under load at a time", seen.count, seen.switches, most)
	}
	b.wantFiles(result, "sweep-2.wrk.txt", "sweep-2.server-1.wrk.txt", "sweep-4.wrk.txt", "sweep-4.server-1.wrk.txt")
	nobodyIn(t, b.dir)
}

func nobodyIn(t *testing.T, dir string) {
	t.Helper()
	found := func() string {
		all, err := kernel.Proc("/proc").Processes()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if at, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(p.PID), "cwd")); err == nil && at == dir {
				return strconv.Itoa(p.PID)
			}
		}
		return ""
	}
	if pid := found(); pid != "" {
		t.Errorf("process %s was left behind", pid)
	}
}

func TestADuetThatIsCutShortLeavesNobodyBehind(t *testing.T) {
	testbed.Programs(t, "wrk")
	var seen sides
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	g := New(Config{Trial: testTrial, Dir: dir}, map[record.Tool]tool.Tool{record.ToolWrk: wrk.Tool{}}, nil)
	long := duetCell(2, 0)
	long.DurationSeconds = 60
	ended := make(chan error, 1)
	go func() {
		_, _, err := g.Measure(ctx, protocol.Start{
			At: time.Now(), Targets: []string{newTarget(t, seen.handler(0)), newTarget(t, seen.handler(1))}, Slots: timetable.Of([]record.Cell{long}),
		}, func(record.Cell, string) {})
		ended <- err
	}()
	for deadline := time.Now().Add(patience); !seen.both(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the load never came")
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it never ended")
	}
	nobodyIn(t, dir)
}

func TestOneSideThatFailsFailsTheDuet(t *testing.T) {
	testbed.Programs(t, "wrk")
	b := newBench(t, withTool(wrk.Tool{}))
	start := protocol.Start{
		At: time.Now().Add(100 * time.Millisecond), Targets: []string{newTarget(t, hello), "127.0.0.1:1"},
		Slots: timetable.Of([]record.Cell{duetCell(1, 0)}),
	}
	result := b.measure(start)
	want := "exit status 1: unable to connect to 127.0.0.1:1 Connection refused"
	for _, c := range result.Cells {
		if c.Error != want || c.Measurement != nil {
			t.Errorf("got %q, want %q", c.Error, want)
		}
	}
	nobodyIn(t, b.dir)
}

func TestEachCellDrawsItsOwnOrderOfSlicesAndDrawsItAgain(t *testing.T) {
	draw := func(trial string, c record.Cell) string {
		r, text := chance(trial, c), ""
		for range 40 {
			text += strconv.Itoa(r.IntN(2))
		}
		return text
	}
	base := draw("a", duetCell(1, 0))
	if again := draw("a", duetCell(1, 0)); again != base || strings.Count(base, "1") < 8 || strings.Count(base, "0") < 8 {
		t.Errorf("drawn %s and %s", base, again)
	}
	if draw("b", duetCell(1, 0)) == base || draw("a", duetCell(2, 0)) == base {
		t.Error("another trial, or another cell, draws the same order")
	}
}

func TestActiveTimeIsTheTurnsWithinWhatTheToolMeasured(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(100, 0).Add(time.Duration(ms) * time.Millisecond) }
	p := &peerLoad{cellRun: &cellRun{}, turns: []turn{{at(0), at(100)}, {at(300), at(400)}, {at(400), at(450)}}}
	p.run.Ended, p.run.Measurement = at(450), &record.Measurement{DurationMicros: 440_000}
	if got := p.active(); got != 240*time.Millisecond {
		t.Errorf("active for %v, want 90 and 100 and 50 ms", got)
	}
}

func TestBothServersOfADuetAreChecked(t *testing.T) {
	good, bad := newTarget(t, hello), newTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	wrong := func(server int) protocol.Checked {
		return protocol.Checked{Fault: protocol.FaultServer, Message: "GET / answered 418 instead of 200", Server: server}
	}
	tests := map[string]struct {
		targets []string
		want    protocol.Checked
	}{
		"both are good":      {[]string{good, good}, protocol.Checked{}},
		"the first is bad":   {[]string{bad, good}, wrong(0)},
		"the second is bad":  {[]string{good, bad}, wrong(1)},
		"there is no second": {[]string{good}, protocol.Checked{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, withTool(wrk.Tool{}))
			checked := b.generator.Check(t.Context(), protocol.Check{Targets: tc.targets, Requests: []record.Request{cell(1, 0).Request}})
			if n := len(checked.Responses); checked.OK() && n != len(tc.targets) {
				t.Errorf("%d answers of %d servers", n, len(tc.targets))
			}
			checked.Responses = nil
			if diff := cmp.Diff(tc.want, checked); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
