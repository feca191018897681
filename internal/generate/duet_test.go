package generate

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func duetCell(connections, warmup int32) v1alpha1.Cell {
	c := cell(connections, warmup)
	c.Order = v1alpha1.OrderSlicedDuet
	return c
}

// overlaps counts answers that were given while the other server gave one too.
type overlaps struct {
	last  [2]atomic.Int64
	count [2]atomic.Int64
	mixed atomic.Int64
}

func (o *overlaps) handler(side int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().UnixNano()
		o.count[side].Add(1)
		o.last[side].Store(now)
		if now-o.last[1-side].Load() < int64(time.Millisecond) {
			o.mixed.Add(1)
		}
		hello(w, r)
	}
}

func TestADuetSharesTheLoadEqually(t *testing.T) {
	testbed.Programs(t, "wrk")
	var seen overlaps
	b := newBench(t, withTool(wrk.Tool{}))
	one, other := newTarget(t, seen.handler(0)), newTarget(t, seen.handler(1))
	b.generator.Check(t.Context(), protocol.Check{Target: one, Beside: other, Request: []v1alpha1.Request{{}}})
	start := protocol.Start{
		At: time.Now().Add(300 * time.Millisecond), Target: one, Beside: other,
		Slots: protocol.Timetable([]v1alpha1.Cell{duetCell(2, 1), duetCell(4, 0)}),
	}
	result := b.measure(start)
	if len(result.failures) != 2 || result.message() != "" {
		t.Errorf("got %d cells done, message %q", len(result.failures), result.message())
	}
	if len(result.Cells) != 2 || len(result.Beside) != 2 || !strings.HasPrefix(result.Environment.ToolVersion, "wrk ") {
		t.Fatalf("got %d and %d cells, tools %s", len(result.Cells), len(result.Beside), result.Environment.ToolVersion)
	}
	if diff := cmp.Diff(result.Responses, result.BesideResponses); diff != "" || len(result.Responses) != 1 {
		t.Errorf("%d answers; the second server's (-first +second):\n%s", len(result.Responses), diff)
	}
	for i := range result.Cells {
		one, other := result.Cells[i], result.Beside[i]
		for _, c := range []record.CellRun{one, other} {
			if c.Error != "" || c.Measurement == nil || c.Measurement.ToolVersion == "" || c.Measurement.Requests == 0 || c.Measurement.Errors != (record.Errors{}) || c.CPUNanos == 0 || c.CPUsAllowed == record.Unknown {
				t.Fatalf("cell %d: %+v %+v", i, c, c.Measurement)
			}
			if c.Point != record.PointOf(start.Slots[i].Cell) || c.Measurement.Args[6] != "2s" {
				t.Errorf("cell %d is %+v with %q", i, c.Point, c.Measurement.Args)
			}
			// A slice is at most as long as a busy machine makes it; the whole cannot be longer than the tool lived.
			if active := time.Duration(c.ActiveNanos); active < time.Second/2 || active > time.Duration(c.Measurement.DurationMicros)*time.Microsecond {
				t.Errorf("cell %d was active for %v of %d µs", i, active, c.Measurement.DurationMicros)
			}
		}
		if one.Turns != other.Turns || one.Turns != 11 {
			t.Errorf("cell %d: %d and %d slices, want 10 and the last", i, one.Turns, other.Turns)
		}
	}
	if all := seen.count[0].Load() + seen.count[1].Load(); seen.mixed.Load() > all/10 {
		t.Errorf("%d of %d requests were answered while the other server was under load too", seen.mixed.Load(), all)
	}
	b.wantFiles(result, "sweep-2.wrk.txt", "sweep-2.beside.wrk.txt", "sweep-4.wrk.txt", "sweep-4.beside.wrk.txt")
	nobodyIn(t, b.dir)
}

// nobodyIn fails the test if a process works in a folder.
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
	var seen overlaps
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	g := New(Config{Trial: testTrial, Dir: dir}, map[v1alpha1.Tool]tool.Tool{v1alpha1.ToolWrk: wrk.Tool{}}, nil)
	long := duetCell(2, 0)
	long.DurationSeconds = 60
	ended := make(chan error, 1)
	go func() {
		_, _, err := g.Measure(ctx, protocol.Start{
			At: time.Now(), Target: newTarget(t, seen.handler(0)), Beside: newTarget(t, seen.handler(1)), Slots: protocol.Timetable([]v1alpha1.Cell{long}),
		}, func(v1alpha1.Cell, string) {})
		ended <- err
	}()
	for deadline := time.Now().Add(patience); seen.count[0].Load() == 0 || seen.count[1].Load() == 0; time.Sleep(time.Millisecond) {
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
		At: time.Now().Add(100 * time.Millisecond), Target: newTarget(t, hello), Beside: "127.0.0.1:1",
		Slots: protocol.Timetable([]v1alpha1.Cell{duetCell(1, 0)}),
	}
	result := b.measure(start)
	want := "exit status 1: unable to connect to 127.0.0.1:1 Connection refused"
	for _, c := range []record.CellRun{result.Cells[0], result.Beside[0]} {
		if c.Error != want || c.Measurement != nil {
			t.Errorf("got %q, want %q", c.Error, want)
		}
	}
	nobodyIn(t, b.dir)
}

func TestEachCellDrawsItsOwnOrderOfSlicesAndDrawsItAgain(t *testing.T) {
	draw := func(trial string, c v1alpha1.Cell) string {
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
	p := &player{cellRun: &cellRun{}, turns: []turn{{at(0), at(100)}, {at(300), at(400)}, {at(400), at(450)}}}
	p.run.Ended, p.run.Measurement = at(450), &record.Measurement{DurationMicros: 440_000}
	if got := p.active(); got != 240*time.Millisecond {
		t.Errorf("active for %v, want 90 and 100 and 50 ms", got)
	}
}

func TestBothServersOfADuetAreChecked(t *testing.T) {
	good, bad := newTarget(t, hello), newTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	tests := map[string]struct{ target, beside, want string }{
		"both are good":      {good, good, protocol.CheckedOK},
		"the first is bad":   {bad, good, "GET / answered 418 instead of 200"},
		"the second is bad":  {good, bad, "beside: GET / answered 418 instead of 200"},
		"there is no second": {good, "", protocol.CheckedOK},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, withTool(wrk.Tool{}))
			checked := b.generator.Check(t.Context(), protocol.Check{Target: tc.target, Beside: tc.beside, Request: []v1alpha1.Request{{}}})
			if diff := cmp.Diff(tc.want, checked.Verdict); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
