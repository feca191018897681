package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("helloworld")) }

func newTarget(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func withTool(tl tool.Tool) func(Config) worker {
	return func(c Config) worker { return patient(c, tl, nil) }
}

// patient makes a generator that measures cells however late it is for them: a busy machine is no reason for a test to fail.
func patient(c Config, tl tool.Tool, s Searcher) *Generator {
	g := NewGenerator(c, map[v1alpha1.Tool]tool.Tool{v1alpha1.ToolWrk: tl}, s)
	g.maxLate = patience
	return g
}

func cell(connections int32, warmup int32) v1alpha1.Cell {
	return v1alpha1.Cell{
		Load: "sweep", Tool: v1alpha1.ToolWrk, Connections: connections, Threads: 1, DurationSeconds: 1, WarmupSeconds: &warmup,
		Request: v1alpha1.Request{Path: "/"},
	}
}

func TestGeneratorMeasuresWithRealWrk(t *testing.T) {
	if _, err := exec.LookPath("wrk"); err != nil {
		t.Skip("wrk is not installed")
	}
	target := newTarget(t, hello)
	b := newBench(t, withTool(wrk.Tool{}))
	start := protocol.Start{
		At: time.Now().Add(500 * time.Millisecond), Target: target,
		Slots: protocol.Timetable([]v1alpha1.Cell{cell(2, 1), cell(4, 0)}),
	}
	if s := b.must(protocol.Order{Start: &start}); s.Phase != protocol.Running {
		t.Errorf("after its start the agent is %s", s.Phase)
	}
	if s := b.must(protocol.Order{Start: &start}); s.Phase != protocol.Running {
		t.Errorf("after the same start again the agent is %s", s.Phase)
	}
	other := start
	other.At = start.At.Add(time.Second)
	if status, _, text := b.order(protocol.Order{Start: &other}); status != http.StatusConflict {
		t.Errorf("another start was answered %d: %s", status, text)
	}
	state := b.await("Measured", measured)
	if state.CellsDone != 2 || state.Message != "" {
		t.Errorf("got %d cells done, message %q", state.CellsDone, state.Message)
	}
	var result record.GeneratorResult
	b.result(&result)
	if result.Environment.Node != "node-a" || result.Environment.ToolVersion == record.Unknown || len(result.Cells) != 2 {
		t.Fatalf("got environment %+v and %d cells", result.Environment, len(result.Cells))
	}
	for i, c := range result.Cells {
		slot := start.Slots[i]
		if c.Error != "" || c.Measurement == nil || c.Measurement.Requests == 0 || c.Measurement.Connections != slot.Cell.Connections {
			t.Fatalf("cell %d: %+v", i, c)
		}
		if early := start.At.Add(slot.Measure).Sub(c.Started); early > 0 {
			t.Errorf("cell %d was started %v before its time", i, early)
		}
		if c.CPUsAllowed == record.Unknown || c.Measurement.Args[0] != "wrk" {
			t.Errorf("cell %d: CPUs %q, arguments %q", i, c.CPUsAllowed, c.Measurement.Args)
		}
	}
	checkFiles(t, b.dir, state.Files, "sweep-2.wrk.txt", "sweep-4.wrk.txt", "result.json")
}

func checkFiles(t *testing.T, dir string, files []protocol.File, want ...string) {
	t.Helper()
	if len(files) != len(want) {
		t.Fatalf("got files %+v, want %q", files, want)
	}
	for i, f := range files {
		body, err := os.ReadFile(filepath.Join(dir, want[i]))
		if err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(body)
		if f.Name != want[i] || f.Bytes != int64(len(body)) || f.SHA256 != hex.EncodeToString(digest[:]) {
			t.Errorf("file %d is described as %+v, want %s with %d bytes", i, f, want[i], len(body))
		}
	}
}

func TestGeneratorSaysWhatTheToolSaid(t *testing.T) {
	if _, err := exec.LookPath("wrk"); err != nil {
		t.Skip("wrk is not installed")
	}
	server := httptest.NewServer(http.HandlerFunc(hello))
	target := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	b := newBench(t, withTool(wrk.Tool{}))
	start := protocol.Start{
		At: time.Now().Add(500 * time.Millisecond), Target: target,
		Slots: protocol.Timetable([]v1alpha1.Cell{cell(1, 0), cell(2, 1)}),
	}
	b.must(protocol.Order{Start: &start})
	b.await("Measured", measured)
	var result record.GeneratorResult
	b.result(&result)
	want := []string{
		"exit status 1: wrk did not run: unable to connect to " + target + " Connection refused",
		"the warm-up ended before its time: exit status 1: wrk did not run: unable to connect to " + target + " Connection refused",
	}
	for i, c := range result.Cells {
		if c.Error != want[i] || c.Measurement != nil || c.Raw == "" {
			t.Errorf("cell %d: error %q, raw %q; want error %q", i, c.Error, c.Raw, want[i])
		}
	}
}

// sleeper is a tool that never ends by itself in time.
type sleeper struct{ fakeTool }

func (sleeper) Args(v1alpha1.Cell, string, tool.Purpose) []string { return []string{"sleep", "300"} }

type fakeTool struct{}

func (fakeTool) Args(v1alpha1.Cell, string, tool.Purpose) []string { return []string{"true"} }
func (fakeTool) Files(v1alpha1.Cell, string) []tool.File           { return nil }

func (fakeTool) Waits() bool                              { return false }
func (fakeTool) Outputs(v1alpha1.Cell) []string           { return nil }
func (fakeTool) Parse([]byte) (record.Measurement, error) { return record.Measurement{}, nil }
func (fakeTool) VersionArgs() []string                    { return []string{"true"} }
func (fakeTool) ParseVersion([]byte) string               { return "fake" }

func TestACellThatItsGeneratorWasLateForIsNobodysFault(t *testing.T) {
	b := newBench(t, func(c Config) worker {
		g := NewGenerator(c, map[v1alpha1.Tool]tool.Tool{v1alpha1.ToolWrk: fakeTool{}}, nil)
		g.maxLate = -time.Hour
		return g
	})
	start := protocol.Start{At: time.Now(), Target: "127.0.0.1:1", Slots: []protocol.Slot{{Cell: cell(1, 0), End: 50 * time.Millisecond}}}
	b.must(protocol.Order{Start: &start})
	b.await("Measured", measured)
	var result record.GeneratorResult
	b.result(&result)
	if c := result.Cells[0]; !c.Late || !strings.HasPrefix(c.Error, "the generator was late for the cell: ") || !c.Started.IsZero() {
		t.Errorf("late: %v, error %q, started %v", c.Late, c.Error, c.Started)
	}
}

func TestGeneratorKillsAToolThatHangs(t *testing.T) {
	b := newBench(t, func(c Config) worker {
		return NewGenerator(c, map[v1alpha1.Tool]tool.Tool{v1alpha1.ToolWrk: sleeper{}}, nil)
	})
	slots := []protocol.Slot{
		{Cell: cell(1, 0), End: 50 * time.Millisecond},
		{Cell: cell(2, 0), Warmup: 50 * time.Millisecond, Measure: 50 * time.Millisecond, End: 100 * time.Millisecond},
	}
	start := protocol.Start{At: time.Now(), Target: "127.0.0.1:1", Slots: slots}
	b.must(protocol.Order{Start: &start})
	state := b.await("Measured", measured)
	var result record.GeneratorResult
	b.result(&result)
	if got, want := result.Cells[0].Error, "sleep was killed, since it had not ended 2s after its time"; got != want {
		t.Errorf("error of the cell whose tool hung = %q, want %q", got, want)
	}
	if got := result.Cells[1]; !strings.Contains(got.Error, "late for the cell") || got.Late {
		t.Errorf("error of the cell after it = %q, late: %v; want one that says that it was late, and that this was not the machine's fault", got.Error, got.Late)
	}
	if !strings.HasPrefix(state.Message, "sweep-2: ") {
		t.Errorf("message = %q, want the last cell's error", state.Message)
	}
}

func TestGeneratorKillsItsToolWhenItMustEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := NewGenerator(Config{Dir: t.TempDir()}, map[v1alpha1.Tool]tool.Tool{v1alpha1.ToolWrk: sleeper{}}, nil)
	start := protocol.Start{At: time.Now(), Target: "127.0.0.1:1", Slots: []protocol.Slot{{Cell: cell(1, 0), End: time.Hour}}}
	ended := make(chan error)
	go func() {
		_, err := g.measure(ctx, start, func(v1alpha1.Cell, string) {})
		ended <- err
	}()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("measure() = %v, want a cancelled context", err)
		}
	case <-time.After(patience):
		t.Fatal("the tool was not killed")
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, withTool(fakeTool{}))
	mine := func(o protocol.Order) protocol.Order {
		o.Trial, o.Attempt, o.Role = testTrial, testAttempt, protocol.RoleGenerator(0)
		return o
	}
	start := func(change func(*protocol.Start)) protocol.Order {
		s := protocol.Start{At: time.Now().Add(time.Hour), Target: "127.0.0.1:80", Slots: protocol.Timetable([]v1alpha1.Cell{cell(1, 0), cell(2, 0)})}
		change(&s)
		return mine(protocol.Order{Start: &s})
	}
	other := start(func(*protocol.Start) {})
	other.Trial = "another"
	tests := map[string]struct {
		key   ed25519.PrivateKey
		order protocol.Order
		want  int
	}{
		"a signature of somebody else":    {stranger, start(func(*protocol.Start) {}), http.StatusForbidden},
		"an order for another trial":      {b.key, other, http.StatusForbidden},
		"an order that orders nothing":    {b.key, mine(protocol.Order{}), http.StatusUnprocessableEntity},
		"an order that orders two things": {b.key, mine(protocol.Order{Check: &protocol.Check{}, Store: &protocol.Store{}}), http.StatusUnprocessableEntity},
		"a store before anything is held": {b.key, mine(protocol.Order{Store: &protocol.Store{}}), http.StatusConflict},
		"a start without slots":           {b.key, start(func(s *protocol.Start) { s.Slots = nil }), http.StatusUnprocessableEntity},
		"a start in the past":             {b.key, start(func(s *protocol.Start) { s.At = time.Now().Add(-time.Minute) }), http.StatusUnprocessableEntity},
		"a start with a path as a load":   {b.key, start(func(s *protocol.Start) { s.Slots[0].Cell.Load = "../x" }), http.StatusUnprocessableEntity},
		"a start with one cell twice":     {b.key, start(func(s *protocol.Start) { s.Slots[1].Cell = s.Slots[0].Cell }), http.StatusUnprocessableEntity},
		"a start out of order":            {b.key, start(func(s *protocol.Start) { s.Slots[1].Measure = 0 }), http.StatusUnprocessableEntity},
		"a start without a port":          {b.key, start(func(s *protocol.Start) { s.Target = "127.0.0.1" }), http.StatusUnprocessableEntity},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if status, _, text := b.seal(tc.key, tc.order); status != tc.want {
				t.Errorf("answered %d: %s; want %d", status, text, tc.want)
			}
		})
	}
	t.Run("something that is no order", func(t *testing.T) {
		if status, _, text := b.post([]byte("{")); status != http.StatusBadRequest {
			t.Errorf("answered %d: %s", status, text)
		}
	})
	if s := b.state(); s.Phase != protocol.Idle {
		t.Errorf("after refused orders the agent is %s", s.Phase)
	}
}
