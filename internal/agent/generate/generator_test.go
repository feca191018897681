package generate

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("helloworld")) }

func newTarget(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func withTool(tl tool.Tool) func(Config) *Generator {
	return func(c Config) *Generator { return patient(c, tl, nil) }
}

// patient makes a generator that accepts late cells and slow tools, since a busy machine must not fail a test.
func patient(c Config, tl tool.Tool, s Searcher) *Generator {
	g := New(c, map[record.Tool]tool.Tool{record.ToolWrk: tl}, s)
	g.maxLate, g.grace = patience, patience
	return g
}

func cell(connections int32, warmup int32) record.Cell {
	return record.Cell{
		Load: "sweep", Tool: record.ToolWrk, Connections: connections, Generators: 1, Threads: 1, DurationSeconds: 1, WarmupSeconds: warmup,
		Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}},
	}
}

func TestGeneratorMeasuresWithRealWrk(t *testing.T) {
	testbed.Programs(t, "wrk")
	target := newTarget(t, hello)
	b := newBench(t, withTool(wrk.Tool{}))
	start := protocol.Start{
		At: time.Now().Add(500 * time.Millisecond), Targets: []string{target},
		Slots: timetable.Of([]record.Cell{cell(2, 1), cell(4, 0)}),
	}
	result := b.measure(start)
	if len(result.failures) != 2 || result.message() != "" {
		t.Errorf("got %d cells done, message %q", len(result.failures), result.message())
	}
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
	b.wantFiles(result, "sweep-2.wrk.txt", "sweep-4.wrk.txt")
}

func TestGeneratorSaysWhatTheToolSaid(t *testing.T) {
	testbed.Programs(t, "wrk")
	server := httptest.NewServer(http.HandlerFunc(hello))
	target := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	b := newBench(t, withTool(wrk.Tool{}))
	start := protocol.Start{
		At: time.Now().Add(500 * time.Millisecond), Targets: []string{target},
		Slots: timetable.Of([]record.Cell{cell(1, 0), cell(2, 1)}),
	}
	result := b.measure(start)
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

type sleeper struct{ fakeTool }

func (sleeper) Args(record.Cell, tool.Target, tool.Purpose) []string { return []string{"sleep", "300"} }

type fakeTool struct{ tool.Tool }

func (fakeTool) Args(record.Cell, tool.Target, tool.Purpose) []string { return []string{"true"} }
func (fakeTool) Files(record.Cell, tool.Target) []tool.File           { return nil }

func (fakeTool) Caveats(record.Cell, bool) tool.Caveats   { return tool.Caveats{} }
func (fakeTool) Waits() bool                              { return false }
func (fakeTool) Outputs(record.Cell) []string             { return nil }
func (fakeTool) Parse([]byte) (record.Measurement, error) { return record.Measurement{}, nil }
func (fakeTool) VersionArgs() []string                    { return []string{"true"} }
func (fakeTool) ParseVersion([]byte) string               { return "fake" }

func TestACellThatItsGeneratorWasLateForIsNobodysFault(t *testing.T) {
	b := newBench(t, func(c Config) *Generator {
		g := New(c, map[record.Tool]tool.Tool{record.ToolWrk: fakeTool{}}, nil)
		g.maxLate = -time.Hour
		return g
	})
	start := protocol.Start{At: time.Now(), Targets: []string{"127.0.0.1:1"}, Slots: []timetable.Slot{{Cell: cell(1, 0), End: 50 * time.Millisecond}}}
	result := b.measure(start)
	if c := result.Cells[0]; !c.Late || !strings.HasPrefix(c.Error, "the generator was late for the cell: ") || !c.Started.IsZero() {
		t.Errorf("late: %v, error %q, started %v", c.Late, c.Error, c.Started)
	}
}

func TestGeneratorKillsAToolThatHangs(t *testing.T) {
	b := newBench(t, func(c Config) *Generator {
		return New(c, map[record.Tool]tool.Tool{record.ToolWrk: sleeper{}}, nil)
	})
	slots := []timetable.Slot{
		{Cell: cell(1, 0), End: 50 * time.Millisecond},
		{Cell: cell(2, 0), Warmup: 50 * time.Millisecond, Measure: 50 * time.Millisecond, End: 100 * time.Millisecond},
	}
	result := b.again(protocol.Start{Targets: []string{"127.0.0.1:1"}, Slots: slots}, func(o outcome) bool { return !o.Cells[0].Late })
	if got, want := result.Cells[0].Error, "sleep was killed, because it had not ended 2s after its time"; got != want {
		t.Errorf("error of the cell whose tool hung = %q, want %q", got, want)
	}
	if got := result.Cells[1]; !strings.Contains(got.Error, "late for the cell") || got.Late {
		t.Errorf("error of the cell after it = %q, late: %v; want one that says that it was late, and that this was not the machine's fault", got.Error, got.Late)
	}
	if got := result.failures[1]; got != result.Cells[1].Error {
		t.Errorf("the second cell was said to have failed by %q, want its error", got)
	}
}

func TestGeneratorKillsItsToolWhenItMustEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := New(Config{Dir: t.TempDir()}, map[record.Tool]tool.Tool{record.ToolWrk: sleeper{}}, nil)
	start := protocol.Start{At: time.Now(), Targets: []string{"127.0.0.1:1"}, Slots: []timetable.Slot{{Cell: cell(1, 0), End: time.Hour}}}
	ended := make(chan error)
	go func() {
		_, _, err := g.Measure(ctx, start, func(record.Cell, string) {})
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

func TestToolVersionsDoNotDependOnTheOrderOfLevels(t *testing.T) {
	if got := toolVersions(map[record.Tool]string{record.ToolWrk: "4.1.0", record.ToolVegeta: "12.13.0", record.ToolAb: "2.3"}); got != "ab 2.3, vegeta 12.13.0, wrk 4.1.0" {
		t.Errorf("got %q", got)
	}
}
