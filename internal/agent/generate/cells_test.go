package generate

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// lived runs cells in a generator, and returns the outcome and its folder.
func lived(t *testing.T, g func(Config) *Generator, target string, cells ...record.Cell) (outcome, string) {
	t.Helper()
	b := newBench(t, g)
	start := protocol.Start{At: time.Now().Add(500 * time.Millisecond), Targets: []string{target}, Slots: timetable.Of(cells)}
	result := b.measure(start)
	return result, b.dir
}

func TestGeneratorWithoutAPartStaysInStep(t *testing.T) {
	b := newBench(t, func(c Config) *Generator {
		c.Index = 1
		return patient(c, runs("true"), nil)
	})
	both := cell(3, 0)
	both.Load, both.Generators = "both", 2
	start := protocol.Start{At: time.Now().Add(500 * time.Millisecond), Targets: []string{"127.0.0.1:1"}, Slots: timetable.Of([]record.Cell{cell(5, 0), both})}
	result := b.follow(start, func(c record.Cell) {
		if early := time.Until(start.At.Add(time.Second)); early > 0 && c.Load != "both" {
			t.Errorf("the cell that it has no part in was over %v before its time", early)
		}
	})
	if len(result.failures) != 2 || result.message() != "" {
		t.Errorf("got %d cells done, message %q", len(result.failures), result.message())
	}
	if len(result.Cells) != 1 || result.Cells[0].Load != "both" || result.Cells[0].Connections != 3 {
		t.Errorf("got the cells %+v", result.Cells)
	}
	b.wantFiles(result, "both-3.wrk.txt")
}

func TestGeneratorKeepsWhatAToolWrites(t *testing.T) {
	writes := toolOf{
		outputs: []string{"times.txt", "missing.txt"},
		args:    func(record.Cell, tool.Purpose) []string { return []string{"cp", "-v", "in.txt", "times.txt"} },
		files:   func(record.Cell) []tool.File { return []tool.File{{Name: "in.txt", Text: "1 2 3"}} },
		parse: func(raw string) (record.Measurement, error) {
			return record.Measurement{Args: []string{raw}, Requests: 3}, nil
		},
	}
	result, dir := lived(t, withTool(writes), "127.0.0.1:1", cell(1, 0))
	want := "'in.txt' -> 'times.txt'\n" + tool.OutputHeader("times.txt") + "1 2 3"
	raw, err := os.ReadFile(filepath.Join(dir, result.Cells[0].Raw))
	if err != nil || string(raw) != want {
		t.Errorf("the raw output is %q, error %v; want %q", raw, err, want)
	}
	if m := result.Cells[0].Measurement; m == nil || m.Requests != 3 || m.ToolVersion != "fake" {
		t.Errorf("the measurement is %+v, error %q", m, result.Cells[0].Error)
	}
	if _, err := os.Stat(filepath.Join(dir, "times.txt")); !os.IsNotExist(err) {
		t.Errorf("the file that the tool wrote is still there: %v", err)
	}
	if result.Environment.ToolVersion != "wrk fake" {
		t.Errorf("the tools are %q", result.Environment.ToolVersion)
	}
}

func TestGeneratorThrowsAwayWhatAWarmUpWrites(t *testing.T) {
	g := New(Config{Dir: t.TempDir()}, nil, nil)
	path := filepath.Join(g.config.Dir, "times.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.config.Dir, "asked.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	given := toolOf{outputs: []string{"times.txt", "missing.txt", "asked.json"}, files: func(record.Cell) []tool.File {
		return []tool.File{{Name: "asked.json", Text: "{}"}}
	}}
	g.discard(given, cell(1, 1), tool.Target{})
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a warm-up's file is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(g.config.Dir, "asked.json")); err != nil {
		t.Errorf("what the tool was given for the measured run is gone: %v", err)
	}
}

func TestToolInheritsNothing(t *testing.T) {
	t.Setenv("LOADSTONE_SECRET", "x")
	for _, protocol := range []record.Protocol{"", record.HTTP2} {
		c := cell(1, 0).Speaking(protocol)
		c.Threads = 3
		result, dir := lived(t, withTool(runs("env")), "127.0.0.1:1", c)
		raw, err := os.ReadFile(filepath.Join(dir, result.Cells[0].Raw))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GOMAXPROCS=3", "K6_AUTO_EXTENSION_RESOLUTION=false"}
		if protocol == "" {
			want = append(want, "GODEBUG=http2client=0")
		}
		var got []string
		for l := range strings.Lines(string(raw)) {
			if l = strings.TrimSpace(l); !strings.HasPrefix(l, "PWD=") {
				got = append(got, l)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the environment of a tool that speaks %q (-want +got):\n%s", protocol, diff)
		}
	}
}

// doubling is a search that doubles its rate from 10 while steps are measured, for at most three steps.
type doubling struct{ asked [][]record.CellRun }

func (d *doubling) Rate(_ record.Cell, past []record.CellRun) (int32, bool) {
	d.asked = append(d.asked, past)
	if len(past) == 0 {
		return 10, true
	}
	return 2 * past[len(past)-1].Rate, len(past) < 3
}

func TestGeneratorSearches(t *testing.T) {
	echo := toolOf{
		args: func(c record.Cell, _ tool.Purpose) []string { return []string{"cat", "rate.txt"} },
		files: func(c record.Cell) []tool.File {
			return []tool.File{{Name: "rate.txt", Text: strconv.Itoa(int(c.RequestsPerSecond))}}
		},
		parse: func(raw string) (record.Measurement, error) {
			n, err := strconv.ParseInt(raw, 10, 64)
			return record.Measurement{Requests: n}, err
		},
	}
	var cells []record.Cell
	for step := int32(1); step <= 4; step++ {
		c := cell(8, 0)
		c.Step, c.Search = step, &record.Search{Steps: 4}
		cells = append(cells, c)
	}
	search := &doubling{}
	result, _ := lived(t, func(c Config) *Generator {
		return patient(c, echo, search)
	}, "127.0.0.1:1", cells...)
	if len(result.failures) != 4 || len(result.Cells) != 3 {
		t.Fatalf("got %d cells done and %d measured, want 4 and 3", len(result.failures), len(result.Cells))
	}
	for i, c := range result.Cells {
		want := int32(10) << i
		if c.Rate != want || c.Measurement == nil || c.Measurement.Requests != int64(want) || c.RequestsPerSecond != 0 || c.Step != int32(i)+1 {
			t.Errorf("step %d: rate %d, point %+v, error %q, measurement %+v", i+1, c.Rate, c.Point, c.Error, c.Measurement)
		}
	}
	for i, past := range search.asked {
		if len(past) != i || i > 0 && (past[i-1].Measurement == nil || past[i-1].Measurement.Requests != int64(10)<<(i-1)) {
			t.Errorf("step %d was decided from %+v", i+1, past)
		}
	}
	if result.Cells[2].Measurement.ToolVersion != "fake" {
		t.Errorf("the version of a step's tool is %q", result.Cells[2].Measurement.ToolVersion)
	}
}

func TestGeneratorThatCannotSearch(t *testing.T) {
	c := cell(1, 0)
	c.Step, c.Search = 1, &record.Search{}
	result, _ := lived(t, withTool(runs("true")), "127.0.0.1:1", c)
	if got := result.Cells[0].Error; got != "nothing decides the rate of the search's step" {
		t.Errorf("error = %q", got)
	}
}

func TestGeneratorSeesWhatTheToolDoes(t *testing.T) {
	testbed.Programs(t, "wrk")
	target := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		hello(w, r)
	})
	b := newBench(t, withTool(wrk.Tool{}))
	checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{target}, Requests: []record.Request{cell(4, 1).Request}, Cells: []record.Cell{cell(4, 1)}})
	responses := []record.Response{{
		Path: "/", Status: 200, BodyBytes: 10, BodySHA256: "936a185caaa266bb9cbe981e9e05cb78cd732b0b3280eb944412bb6f8f8f07af",
		HeaderBytes: int64(len("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n")),
	}}
	if diff := cmp.Diff(responses, checked.Responses); !checked.OK() || diff != "" {
		t.Fatalf("Checked = %q, responses (-want +got):\n%s", checked.Message, diff)
	}
	result := b.again(protocol.Start{Targets: []string{target}, Slots: timetable.Of([]record.Cell{cell(4, 1), cell(2, 0)})}, audited)
	if diff := cmp.Diff(responses, result.Responses); diff != "" {
		t.Errorf("responses of the record (-want +got):\n%s", diff)
	}
	for i, c := range result.Cells {
		if c.Error != "" || c.Measurement == nil || c.Network.Handshakes == nil {
			t.Fatalf("cell %d: %+v", i, c)
		}
		if c.FirstConnection == nil || c.FirstConnection.Before(c.Started) || c.FirstConnection.After(c.Ended) {
			t.Errorf("cell %d: error %q, started %v, first connection %v", i, c.Error, c.Started, c.FirstConnection)
		}
		// Busy time cannot exceed the available time; a tick is 10 ms.
		if c.CoreNanos < int64(time.Second) || c.BusyNanos <= 0 || c.BusyNanos+c.StealNanos > c.CoreNanos+20*int64(time.Millisecond) {
			t.Errorf("cell %d: the CPUs were busy for %d ns and stolen for %d of %d", i, c.BusyNanos, c.StealNanos, c.CoreNanos)
		}
		if c.AgentCPUNanos <= 0 || c.Network.ActiveOpens < int64(c.Connections) || c.Network.SegmentsOut == 0 {
			t.Errorf("cell %d: the agent used %d ns, the network counted %+v", i, c.AgentCPUNanos, c.Network)
		}
	}
	if a := result.Cells[0].Audit; a == nil || a.Requests == 0 || a.WrongBody+a.WrongStatus+a.Failed > 0 {
		t.Errorf("the audit of the cell with a warm-up is %+v", a)
	}
	for i, c := range result.Cells {
		if a := c.MeasuredAudit; a == nil || a.WrongBody+a.WrongStatus+a.Failed > 0 || a.Connections > 1 || a.Requests > auditLeast {
			t.Errorf("the audit of the measured time of cell %d is %+v", i, a)
		}
		if h := c.Network.Handshakes; h == nil || min(h.ListenOverflows, h.ListenDrops, h.SynRetransmits) < 0 {
			t.Errorf("cell %d: the handshakes are %+v", i, h)
		}
		if unread := strings.Contains(strings.Join(c.Measurement.Unknown, " "), "The throttling of the generator"); (c.Throttled == nil) != unread {
			t.Errorf("cell %d: throttled %+v, unknown %q", i, c.Throttled, c.Measurement.Unknown)
		}
	}
	if result.LocalPorts <= 0 {
		t.Errorf("the generator has %d local ports", result.LocalPorts)
	}
	if a := result.Cells[1].Audit; a != nil {
		t.Errorf("the audit of the cell without a warm-up is %+v", a)
	}
}

func TestAnswersThatGoWrongUnderLoad(t *testing.T) {
	testbed.Programs(t, "wrk")
	var answers atomic.Int64
	target := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if answers.Add(1) > 500 {
			_, _ = io.WriteString(w, "helloWORLD")
			return
		}
		hello(w, r)
	})
	// A machine that stalls for most of a second leaves no time to look.
	for end := time.Now().Add(patience); time.Now().Before(end); {
		answers.Store(0)
		c := expecting("helloworld")
		c.WarmupSeconds = 0
		result, _ := lived(t, withTool(wrk.Tool{}), target, c)
		run := result.Cells[0]
		if run.Error != "" || run.Measurement.Errors.Sum() > 0 {
			t.Fatalf("error %q, measurement %+v", run.Error, run.Measurement)
		}
		if a := run.MeasuredAudit; a.WrongBody > 0 && strings.HasPrefix(a.Example, `GET / answered the body "helloWORLD" instead of "helloworld" (`) {
			return
		}
	}
	t.Error("wrk does not notice that answers go wrong, and nor does the audit")
}

func TestWhoAudits(t *testing.T) {
	target := newTarget(t, hello)
	tests := map[string]struct {
		index  int32
		cell   record.Cell
		answer string
		want   bool
		wrong  bool
	}{
		"the first generator":                               {cell: cell(1, 1), want: true},
		"another generator":                                 {index: 1, cell: cell(1, 1)},
		"nobody, for a script":                              {cell: scripted("web")},
		"a body that differs from what the check got":       {cell: cell(1, 1), answer: "hello", want: true, wrong: true},
		"a body that is the same as what the check got":     {cell: cell(1, 1), answer: "helloworld", want: true},
		"the load's own expectation comes before a check's": {cell: expecting("helloworld"), answer: "hello", want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := New(Config{Index: tc.index}, nil, nil)
			if tc.answer != "" {
				g.answers = []map[string]httpcheck.Expectation{{"/": httpcheck.Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200, Body: &tc.answer}})}}
			}
			a := &cellRun{slot: timetable.Slot{Cell: tc.cell}, server: httpcheck.Server{Address: target}}
			got := g.beginAudit(t.Context(), a, time.Now().Add(100*time.Millisecond))()
			// A machine that stalls for 0.1 s answers nothing in that time.
			for end := time.Now().Add(patience); got != nil && got.Failed == got.Requests && time.Now().Before(end); {
				got = g.beginAudit(t.Context(), a, time.Now().Add(time.Second))()
			}
			if (got != nil) != tc.want || got != nil && (got.WrongBody > 0) != tc.wrong {
				t.Errorf("the audit is %+v", got)
			}
			a.slot.Cell.DurationSeconds = 1
			measured := g.beginMeasuredAudit(t.Context(), timing.From(time.Now()), a, nil)()
			if (measured != nil) != tc.want {
				t.Errorf("the audit of the measured time is %+v", measured)
			}
		})
	}
}

func expecting(body string) record.Cell {
	c := cell(1, 1)
	c.Request.Expect.Body = &body
	return c
}
