package program

import (
	"context"
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

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const oneCase = `{"schema":"loadstone.case/v1","case":"copy/size:8","metric":"Time","unit":"ns","better":"Less","value":12.5}`

func collecting(t *testing.T) (*Collector, launch.Exchange) {
	t.Helper()
	x := launch.Exchange(t.TempDir())
	parent := func(kernel.Proc) (int, error) { return os.Getpid(), nil }
	own := launch.Config{Dir: t.TempDir(), Node: "here", FindParent: parent, Exchange: x}
	return NewCollector(CollectorConfig{Config: own, SharedNetwork: true, Format: record.JSONLines}), x
}

func once(limit time.Duration) protocol.Start {
	const measure = 100 * time.Millisecond
	return protocol.Start{At: time.Now(), Slots: []timetable.Slot{{
		Cell: record.Cell{Load: "all"}, Measure: measure, Measured: measure + limit, End: measure + limit,
	}}}
}

type collected struct {
	start  protocol.Start
	result record.ObserverResult
	files  []string
	done   int
	err    error
}

func collect(t *testing.T, c *Collector, x launch.Exchange, limit time.Duration, argv ...string) collected {
	t.Helper()
	type ending struct {
		code int
		err  error
	}
	parent := make(chan ending, 1)
	go func() {
		code, err := launch.Run(t.Context(), x, argv, io.Discard)
		parent <- ending{code, err}
	}()
	c.Watch(t.Context(), func(change func(*protocol.State)) { change(new(protocol.State)) })
	got := collected{start: once(limit)}
	result, files, err := c.Measure(t.Context(), got.start, func(_ record.Cell, failure string) {
		got.done++
		if failure != "" {
			t.Errorf("the cell failed: %s", failure)
		}
	})
	got.files, got.err = files, err
	if r, ok := result.(record.ObserverResult); ok {
		got.result = r
	}
	if end := <-parent; end.code != 0 || end.err != nil {
		t.Errorf("what the program left was collected, and its parent ends with %d, %v", end.code, end.err)
	}
	return got
}

func faultOf(t *testing.T, got collected) *protocol.ProgramFault {
	t.Helper()
	var fault *protocol.ProgramFault
	if !errors.As(got.err, &fault) {
		t.Fatalf("got %v, want a fault of the program's", got.err)
	}
	return fault
}

func TestAProgramThatEndsWellLeavesItsCasesAndItsCost(t *testing.T) {
	c, x := collecting(t)
	printed := filepath.Join(t.TempDir(), "printed")
	if err := os.WriteFile(printed, []byte(oneCase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := collect(t, c, x, aMinute, "/bin/cat", printed)
	if got.err != nil {
		t.Fatal(got.err)
	}
	want := []record.Case{{
		Name: "copy/size:8", Axes: []record.Axis{{Name: "size", Value: "8"}},
		Values: []record.CaseValue{{Metric: "Time", Unit: "ns", Better: record.LessIsBetter, Samples: []float64{12.5}}},
	}}
	run := got.result.Program
	if diff := cmp.Diff(want, run.Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{run.Output}, got.files); diff != "" || got.done != 1 {
		t.Errorf("%d cells are done; files (-want +got):\n%s", got.done, diff)
	}
	if kept, err := os.ReadFile(filepath.Join(c.config.Dir, run.Output)); err != nil || string(kept) != oneCase+"\n" {
		t.Errorf("kept %q, %v", kept, err)
	}
	if b := got.result.Binary; b == nil || filepath.Base(b.Path) != "cat" {
		t.Errorf("the executable is %+v", b)
	}
	if early := got.start.At.Add(got.start.Slots[0].Measure).Sub(run.Started); early > 5*time.Millisecond || run.Ended.Before(run.Started) {
		t.Errorf("it ran from %s to %s, which is %s before its turn", run.Started, run.Ended, early)
	}
}

func TestTheCostOfAProgramIsItsOwnAndNotItsParents(t *testing.T) {
	c, x := collecting(t)
	got := collect(t, c, x, aMinute, "/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo '"+oneCase+"'")
	if got.err != nil {
		t.Fatal(got.err)
	}
	exit, err := x.Exited(0)
	if err != nil {
		t.Fatal(err)
	}
	cell, run := got.result.Cells[0], got.result.Program
	if own := run.UserNanos + run.SystemNanos; own <= 0 || cell.CPUNanos != own {
		t.Errorf("it used %d ns, and its cell says %d", own, cell.CPUNanos)
	}
	want := []int64{exit.VoluntarySwitches, exit.InvoluntarySwitches, exit.PeakMemoryBytes}
	if diff := cmp.Diff(want, []int64{cell.VoluntarySwitches, cell.InvoluntarySwitches, cell.PeakMemoryBytes}); diff != "" {
		t.Errorf("what its parent says and what its cell says (-want +got):\n%s", diff)
	}
	if cell.Ended.Before(run.Ended) {
		t.Errorf("it was seen until %s, and ran until %s", cell.Ended, run.Ended)
	}
	for _, sentence := range cell.Unknown {
		if !strings.HasPrefix(sentence, "The throttling of the server") && !strings.HasPrefix(sentence, "The time of the server's CPUs") {
			t.Errorf("what is unknown of the parent is no concern of the program's: %s", sentence)
		}
	}
	if allowed, _ := kernel.Proc("/proc").CPUsAllowed(os.Getpid()); cell.CPUsAllowed != allowed || got.result.Environment.Node != "here" {
		t.Errorf("it ran on the CPUs %q of %q, want %q", cell.CPUsAllowed, got.result.Environment.Node, allowed)
	}
}

func TestAProgramThatFailsIsQuoted(t *testing.T) {
	long := strings.Repeat("x", 2*launch.Quoted)
	printed := func(text string) map[string]string { return map[string]string{programOutput: text + "\n"} }
	for name, tc := range map[string]struct {
		script, want string
		kept         map[string]string
	}{
		"it says why":                  {"echo out; echo why >&2; exit 3", `exit code 3, last output: "why"`, map[string]string{programOutput: "out\n", programErrors: "why\n"}},
		"it says why where it prints":  {"echo '  two'; echo words; exit 1", `exit code 1, last output: "two words"`, printed("  two\nwords")},
		"it says nothing":              {"exit 7", "exit code 7", map[string]string{}},
		"a signal ends it":             {"kill -TERM $$", "ended by signal: terminated", map[string]string{}},
		"it fails after its last case": {"echo '" + oneCase + "'; exit 2", fmt.Sprintf("exit code 2, last output: %q", oneCase), printed(oneCase)},
		"it talks much":                {"echo " + long + "; exit 1", fmt.Sprintf("exit code 1, last output: %q", long[:launch.Quoted-1]), printed(long)},
	} {
		t.Run(name, func(t *testing.T) {
			c, x := collecting(t)
			got := collect(t, c, x, aMinute, "/bin/sh", "-c", tc.script)
			fault := faultOf(t, got)
			if fault.Fault != protocol.FaultExit || !strings.HasPrefix(fault.Message, tc.want) {
				t.Errorf("got %+v, want %s", fault, tc.want)
			}
			if got.done != 0 || got.result.Program != nil {
				t.Errorf("a program that failed has a record: %+v", got)
			}
			if diff := cmp.Diff(tc.kept, kept(t, c, got.files)); diff != "" {
				t.Errorf("what is kept of what it printed (-want +got):\n%s", diff)
			}
		})
	}
}

func kept(t *testing.T, c *Collector, names []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(c.config.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

func TestWhatAFailedProgramPrintedIsKeptUpToABound(t *testing.T) {
	c, x := collecting(t)
	got := collect(t, c, x, aMinute, "/bin/sh", "-c", fmt.Sprintf("head -c %d /dev/zero; exit 3", maxOutput+1))
	if fault := faultOf(t, got); !strings.HasSuffix(fault.Message, fmt.Sprintf("; only the first %d of the %d bytes of output.txt are kept", maxOutput, maxOutput+1)) {
		t.Errorf("got %+v", fault)
	}
	if all := kept(t, c, got.files); len(all) != 1 || len(all[programOutput]) != maxOutput {
		t.Errorf("%d files are kept, of %d bytes", len(all), len(all[programOutput]))
	}
}

func TestABenchmarkOfGoThatFailsCostsItsCaseAlone(t *testing.T) {
	const good, bad = `BenchmarkA 1 2 ns/op\n`, `--- FAIL: BenchmarkB\n    no room\nFAIL\n`
	for name, tc := range map[string]struct {
		script, want string
	}{
		"a benchmark fails":        {"printf -- '" + good + bad + "'; exit 1", ""},
		"all benchmarks fail":      {"printf -- '" + bad + "'; exit 1", ""},
		"nothing fails but it":     {"printf -- '" + good + "'; exit 1", "exit code 1"},
		"it panics as well":        {"printf -- '" + good + bad + "panic: x\n'; exit 1", "exit code 1"},
		"it ends by another code":  {"printf -- '" + good + bad + "'; exit 2", "exit code 2"},
		"it prints nothing of use": {"echo hello; exit 1", "exit code 1"},
		"a value is no number":     {"printf -- 'BenchmarkC 1 2 ns/op NaN x\n" + bad + "'; exit 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []record.CaseFormat{record.GoTest, record.Auto} {
				c, x := collecting(t)
				c.config.Format = format
				got := collect(t, c, x, aMinute, "/bin/sh", "-c", tc.script)
				if tc.want != "" {
					if fault := faultOf(t, got); fault.Fault != protocol.FaultExit || !strings.HasPrefix(fault.Message, tc.want) {
						t.Errorf("%s: got %+v", format, fault)
					}
					continue
				}
				if got.err != nil {
					t.Fatal(got.err)
				}
				if all := got.result.Program.Cases; all[len(all)-1].Failure != "no room" {
					t.Errorf("%s: got %+v", format, all)
				}
			}
		})
	}
}

func TestWhatCannotBeReadOfAnOutputIsRecorded(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   record.Unread
	}{
		"text among its cases":   {"echo '" + oneCase + "'; echo hello", record.Unread{Line: 2, Text: "hello"}},
		"half a line at its end": {"echo '" + oneCase + "'; printf '{\"schema\"'", record.Unread{Line: 2, Text: `{"schema"`}},
		"more than is read":      {"echo '" + oneCase + fmt.Sprintf("'; head -c %d /dev/zero", maxOutput), record.Unread{}},
	} {
		t.Run(name, func(t *testing.T) {
			c, x := collecting(t)
			got := collect(t, c, x, aMinute, "/bin/sh", "-c", tc.script)
			if got.err != nil {
				t.Fatal(got.err)
			}
			run := got.result.Program
			if len(run.Cases) != 1 || len(run.Unread) == 0 || run.Unread[0].Line != tc.want.Line || run.Unread[0].Text != tc.want.Text || run.Unread[0].Why == "" {
				t.Errorf("%d cases, unread %+v", len(run.Cases), run.Unread)
			}
		})
	}
}

func TestAProgramThatTakesLongerThanItMayIsNoFailureOfItsExit(t *testing.T) {
	c, x := collecting(t)
	fault := faultOf(t, collect(t, c, x, 200*time.Millisecond, "/bin/sh", "-c", "echo '"+oneCase+"'; sleep 60"))
	if fault.Fault != protocol.FaultLimit || fault.Message != "it had not ended after 200ms" {
		t.Errorf("got %+v", fault)
	}
}

func TestOutputThatCannotBeReadIsTheProgramsFault(t *testing.T) {
	for name, tc := range map[string]struct{ script, want string }{
		"it prints nothing":               {"true", "printed nothing"},
		"it prints something else":        {"echo hello", `line 1: "hello" is no JSON object`},
		"it prints too much":              {fmt.Sprintf("head -c %d /dev/zero", maxOutput+1), fmt.Sprintf("has %d bytes", maxOutput+1)},
		"it removes its output":           {"echo '" + oneCase + `'; rm "$0"`, "removed or replaced"},
		"it leads its output elsewhere":   {`rm "$0"; ln -s /etc/hostname "$0"`, "removed or replaced"},
		"it leaves a folder for its file": {`rm "$0"; mkdir "$0"`, "removed or replaced"},
		"it leaves a pipe for its file":   {`rm "$0"; mkfifo "$0"`, "removed or replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			c, x := collecting(t)
			got := collect(t, c, x, aMinute, "/bin/sh", "-c", tc.script, x.Path(launch.OutputFile))
			if fault := faultOf(t, got); fault.Fault != protocol.FaultOutput || !strings.Contains(fault.Message, tc.want) {
				t.Errorf("got %+v, want %s", fault, tc.want)
			}
			if wrote := strings.HasPrefix(name, "it prints s") || strings.HasPrefix(name, "it prints too"); wrote != slices.Contains(got.files, programOutput) || got.done != 0 {
				t.Errorf("%d cells are done, and of what cannot be read is kept: %q", got.done, got.files)
			}
		})
	}
}

func TestAProgramRunsOnce(t *testing.T) {
	for name, slots := range map[string][]timetable.Slot{"never": nil, "twice": {{}, {}}} {
		t.Run(name, func(t *testing.T) {
			c, x := collecting(t)
			if _, _, err := c.Measure(t.Context(), protocol.Start{At: time.Now(), Slots: slots}, func(record.Cell, string) {}); err == nil {
				t.Error("no error")
			}
			if _, err := os.Stat(x.Path("command-0.json")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its parent has a command: %v", err)
			}
		})
	}
}

func TestWhatIsNotTheProgramsIsNoFaultOfIts(t *testing.T) {
	nobody := func(kernel.Proc) (int, error) { return 0, errors.New("it is gone") }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		find func(kernel.Proc) (int, error)
		exit string
		want string
	}{
		"its parent is gone":                   {ctx: t.Context(), find: nobody, want: "finding the program's parent"},
		"the collector is ended":               {ctx: ended, want: context.Canceled.Error()},
		"what its parent says cannot be read":  {ctx: t.Context(), exit: "{", want: "reading exit-0.json"},
		"its parent never says how it all was": {ctx: t.Context(), want: "did not say within 3.001s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, x := collecting(t)
			if tc.find != nil {
				c.config.FindParent = tc.find
			}
			if tc.exit != "" {
				if err := os.WriteFile(x.Path("exit-0.json"), []byte(tc.exit), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := c.Measure(tc.ctx, once(time.Millisecond), func(record.Cell, string) { t.Error("a cell is done") })
			var fault *protocol.ProgramFault
			if err == nil || errors.As(err, &fault) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestAProgramThatExceedsItsMemorySaysSo(t *testing.T) {
	c, _ := collecting(t)
	const want = "killed because it exceeded its memory: raise implementations[].memory"
	if got := c.howItEnded(launch.Exit{Code: -1, Signal: "killed", OutOfMemory: true}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
