package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/cli/screen/screentest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

func played() []progress.Event {
	first := &record.PlannedTrial{Name: "quick-000-plain", Block: 1, Servers: []string{"plain"}}
	again := &record.PlannedTrial{Name: "quick-004-duet", Block: 3, Servers: []string{"plain", "costly"}}
	slow := 1234.0
	found := progress.Result{Name: "sweep-10", Value: 12345.6, Unit: "requests/s", P99Micros: &slow}
	doubted := found
	doubted.Doubt = "void: NoisyNeighbours"
	return []progress.Event{
		{Kind: progress.EventNote, Message: "servers were set on CPUs [1]"},
		{Kind: progress.EventProgress, Trial: first, Blocks: 2, Cell: "sweep-10", Done: 0, All: 8, Left: 70 * time.Second},
		{Kind: progress.EventFinished, Trial: first, Blocks: 2, Done: 1, All: 8, Left: 62 * time.Second, Results: []progress.Result{found}},
		{Kind: progress.EventProgress, Trial: first, Blocks: 2, Cell: "sweep-100", Done: 1, All: 8, Left: 61 * time.Second},
		{Kind: progress.EventMeasured, Trial: first, Blocks: 2, Left: time.Minute, Results: []progress.Result{doubted, {Name: "sweep-100", Failed: "it hung"}}},
		{Kind: progress.EventFailed, Trial: again, Blocks: 2, Repeats: 1, Message: "the server exited"},
		{Kind: progress.EventProgress, Trial: again, Blocks: 2, Repeats: 1, Cell: "sweep-10", Done: 8, All: 10, Left: 5 * time.Second, Troubles: "block 2 (NoisyNeighbours)"},
	}
}

// stay are the lines of the run that stay.
var stay = []string{
	"servers were set on CPUs [1]",
	"block 1/2     plain  sweep-10 12,346 requests/s p99 1.23 ms (void: NoisyNeighbours), sweep-100 failed: it hung  1m0s left",
	"repeat 1/1    plain and costly  failed: the server exited",
}

func TestMicrobenchmarkProgressCountsTrials(t *testing.T) {
	e := progress.Event{
		Trial: &record.PlannedTrial{Name: "timed-003-parser", Block: 2, Type: record.Microbenchmark, Servers: []string{"parser"}}, Blocks: 2,
		Done: 3, All: 4, WholeTrials: true, Left: time.Minute,
	}
	if got, want := progressLine(e), "block 2/2     parser  3 of 4 trials  1m0s left"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
}

func TestTerminalShowsLiveView(t *testing.T) {
	t.Setenv("TERM", "xterm")
	want := [][]string{
		stay[:1],
		{stay[0], "block 1/2     plain  sweep-10  0 of 8 cells  1m10s left"},
		{stay[0], "block 1/2     plain  sweep-10  1 of 8 cells  1m2s left", "  sweep-10 12,346 requests/s p99 1.23 ms"},
		{stay[0], "block 1/2     plain  sweep-100  1 of 8 cells  1m1s left", "  sweep-10 12,346 requests/s p99 1.23 ms"},
		stay[:2],
		stay,
		append(slices.Clone(stay), "repeat 1/1    plain and costly  sweep-10  8 of 10 cells  5s left", "  disturbed: block 2 (NoisyNeighbours); repeat blocks begun: 1"),
	}
	for i := range want {
		terminal, page, done := screentest.Open(t, 120)
		s := New(terminal)
		if !s.Live() {
			t.Fatal("a terminal has no live view")
		}
		for _, e := range played()[:i+1] {
			s.Tell(e)
		}
		done()
		if diff := cmp.Diff(want[i], page.Lines()); diff != "" {
			t.Errorf("after event %d it shows -want +got:\n%s", i, diff)
		}
	}
}

func TestTerminalKeepsOnlyFinalLines(t *testing.T) {
	t.Setenv("TERM", "xterm")
	terminal, page, done := screentest.Open(t, 120)
	s := New(terminal)
	for _, e := range played() {
		s.Tell(e)
	}
	s.End()
	s.End()
	fmt.Fprintln(terminal, "done")
	done()
	if diff := cmp.Diff(append(slices.Clone(stay), "done"), page.Lines()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A line that is broken would leave its first part behind when it is erased.
func TestLiveViewLinesAreTruncated(t *testing.T) {
	t.Setenv("TERM", "xterm")
	terminal, page, done := screentest.Open(t, 20)
	s := New(terminal)
	for _, e := range played()[1:4] {
		s.Tell(e)
	}
	done()
	if diff := cmp.Diff([]string{"block 1/2     plain", "  sweep-10 12,346 r"}, page.Lines()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Of a run on a cluster nothing is known of a trial before the report but that it was measured.
func TestTrialWithoutValuesIsPrinted(t *testing.T) {
	var out bytes.Buffer
	e := played()[4]
	e.Results = nil
	New(&out).Tell(e)
	if want := "block 1/2     plain  measured  1m0s left\n"; out.String() != want {
		t.Errorf("it prints %q, want %q", out.String(), want)
	}
}

func TestNonTerminalPrintsOnlyFinalLines(t *testing.T) {
	var out bytes.Buffer
	s := New(&out)
	for _, e := range played() {
		s.Tell(e)
	}
	s.End()
	if diff := cmp.Diff(strings.Join(stay, "\n")+"\n", out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNonTerminalHasNoLiveView(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	read, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]io.Writer{"a buffer": &bytes.Buffer{}, "a file": file, "a pipe": written, "nothing": io.Discard, "a device": null} {
		if New(out).Live() {
			t.Errorf("%s is a terminal", name)
		}
	}
	if err := errors.Join(file.Close(), read.Close(), written.Close(), null.Close()); err != nil {
		t.Fatal(err)
	}
	if New(file).Live() {
		t.Error("a file that is closed is a terminal")
	}
	terminal, _, _ := screentest.Open(t, 80)
	t.Setenv("TERM", "dumb")
	if New(terminal).Live() {
		t.Error("a terminal that cannot move its cursor has a live view")
	}
}

func TestJSONNamesPurposeOfFollowingTrials(t *testing.T) {
	var out bytes.Buffer
	trial := &record.PlannedTrial{Name: "quick-p00-plain", Type: record.ProfileType, Item: "cpu", Servers: []string{"plain"}}
	NewJSON(&out).Tell(progress.Event{Kind: progress.EventMeasured, Trial: trial, Blocks: 2})
	want := `{"event":"trial","trial":"quick-p00-plain","servers":["plain"],"field":"profiles[cpu]","blocks":2,"repeats":0,"cellsDone":0,"cells":0,"leftSeconds":0}` + "\n"
	if out.String() != want {
		t.Errorf("it prints\n%swant\n%s", out.String(), want)
	}
}

func TestJSONPrintsOneObjectPerLine(t *testing.T) {
	var out bytes.Buffer
	j := NewJSON(&out)
	for _, e := range played() {
		j.Tell(e)
	}
	err := j.End(EndOf(progress.Ending{Outcome: conduct.Outcome{Reason: "Done"}, Verdict: &conduct.Verdict{Text: "costly is slower", Conclusive: true}, Report: "report.html"}))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := map[int]string{
		0: `{"event":"note","message":"servers were set on CPUs [1]","blocks":0,"repeats":0,"cellsDone":0,"cells":0,"leftSeconds":0}`,
		2: `{"event":"cells","trial":"quick-000-plain","servers":["plain"],"block":1,"blocks":2,"repeats":0,"cellsDone":1,"cells":8,"leftSeconds":62,"results":[{"name":"sweep-10","value":12345.6,"unit":"requests/s","p99Micros":1234}]}`,
		7: `{"event":"end","reason":"Done","verdict":"costly is slower","conclusive":true,"report":"report.html"}`,
	}
	for i, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is no JSON: %s", i, line)
		}
		if want[i] != "" && line != want[i] {
			t.Errorf("line %d is\n%s\nwant\n%s", i, line, want[i])
		}
	}
	if len(lines) != 8 {
		t.Errorf("there are %d lines", len(lines))
	}
}
