package launch_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

const never = 2 * time.Minute

// serving is a shell that prints that it serves, then waits; trap is its reaction to signals.
func serving(trap string) []string {
	return []string{"/bin/sh", "-c", trap + `; echo serving; while :; do sleep 0.05; done`}
}

func TestWhatAProgramCostIsCountedWhereItIsAskedFor(t *testing.T) {
	l := launches(t, "/bin/sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done")
	file := filepath.Join(t.TempDir(), "counters.csv")
	l.give(0, launch.Command{Counters: file})
	l.until("it has ended", func() bool { exit, err := l.x.Exited(0); return exit != nil || err != nil })
	if err := l.x.Collected(); err != nil {
		t.Fatal(err)
	}
	if err := <-l.done; err != nil {
		t.Fatal(err)
	}
	text, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close() //nolint:errcheck // It is only read.
	counters, err := perfstat.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counters {
		if (c.Value == nil) == (c.Why == "") {
			t.Errorf("%s has both a value and a reason, or neither: %+v", c.Event, c)
		}
		if c.Event == "page-faults" && (c.Value == nil || *c.Value < 10) {
			t.Errorf("the page faults of a program are %+v", c)
		}
	}
}

func TestCountersThatCannotBeWrittenAreAnError(t *testing.T) {
	l := launches(t, "/bin/true")
	l.give(0, launch.Command{Counters: filepath.Join(t.TempDir(), "none", "counters.csv")})
	if err := <-l.done; err == nil || !strings.Contains(err.Error(), "writing the counters") {
		t.Errorf("it ends with %v", err)
	}
}

type launching struct {
	t    *testing.T
	x    launch.Exchange
	done chan error
	code int
	said strings.Builder
}

func launches(t *testing.T, argv ...string) *launching {
	t.Helper()
	l := &launching{t: t, x: launch.Exchange(t.TempDir()), done: make(chan error, 1)}
	go func() {
		var err error
		l.code, err = launch.Run(t.Context(), l.x, argv, &l.said)
		l.done <- err
	}()
	return l
}

func (l *launching) give(index int, o launch.Command) {
	l.t.Helper()
	o.At = time.Now()
	if o.Limit == 0 {
		o.Limit = never
	}
	if err := l.x.Give(index, o); err != nil {
		l.t.Fatal(err)
	}
}

func (l *launching) until(what string, holds func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(never); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("%s has not come", what)
		}
	}
}

func (l *launching) stop(index int) {
	l.t.Helper()
	l.until("its first word", func() bool { return l.output() != "" })
	if err := l.x.Stop(index); err != nil {
		l.t.Fatal(err)
	}
}

func (l *launching) output() string {
	text, err := os.ReadFile(l.x.Path(launch.OutputFile))
	if err != nil {
		return ""
	}
	return string(text)
}

func (l *launching) exit(index int) launch.Exit {
	l.t.Helper()
	var exit *launch.Exit
	l.until("the end of the launch", func() bool {
		var err error
		if exit, err = l.x.Exited(index); err != nil {
			l.t.Fatal(err)
		}
		return exit != nil
	})
	return *exit
}

func (l *launching) end() {
	l.t.Helper()
	if err := l.x.Collected(); err != nil {
		l.t.Fatal(err)
	}
	if err := <-l.done; err != nil || l.code != 0 {
		l.t.Errorf("everything was collected, and the parent ends with %d, %v", l.code, err)
	}
}

func TestAProgramIsLaunchedAsOftenAsItIsTold(t *testing.T) {
	t.Parallel()
	l := launches(t, "/bin/sh", "-c", `echo "$0 $1"; echo "said by $1" >&2; exit $1`, "own", "7")
	for index, tc := range []struct {
		command launch.Command
		output  string
		code    int
	}{
		{launch.Command{}, "own 7\n", 7},
		{launch.Command{Argv: []string{"/bin/sh", "-c", `echo "$0 $1"; exit $1`, "other", "3"}}, "other 3\n", 3},
		{launch.Command{Argv: []string{"/bin/echo", "one", "two words"}}, "one two words\n", 0},
		{launch.Command{}, "own 7\n", 7},
	} {
		l.give(index, tc.command)
		if exit := l.exit(index); exit.Code != tc.code || exit.Killed || exit.TimedOut || l.output() != tc.output {
			t.Errorf("launch %d printed %q and ended with %+v", index, l.output(), exit)
		}
	}
	l.end()
	if got := l.said.String(); got != "said by 7\nsaid by 7\n" {
		t.Errorf("the last words of all launches are %q", got)
	}
}

func TestALaunchHasTheVariablesOfItsOrderBesideItsOwn(t *testing.T) {
	t.Setenv("LOADSTONE_TEST_OWN", "own")
	l := launches(t, "/bin/sh", "-c", `echo "$LOADSTONE_TEST_OWN $LOADSTONE_TEST_ADDED"`)
	for index, tc := range []struct {
		env  []string
		want string
	}{
		{nil, "own \n"},
		{[]string{"LOADSTONE_TEST_ADDED=added"}, "own added\n"},
		{[]string{"LOADSTONE_TEST_OWN=replaced"}, "replaced \n"},
		{nil, "own \n"},
	} {
		l.give(index, launch.Command{Env: tc.env})
		if l.exit(index); l.output() != tc.want {
			t.Errorf("with %v it sees %q, want %q", tc.env, l.output(), tc.want)
		}
	}
	l.end()
}

func TestAProgramEndsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trap   string
		stop   string
		grace  time.Duration
		code   int
		signal string
		killed bool
	}{
		"one that ends in order":       {`trap 'exit 0' TERM`, "", never, 0, "", false},
		"one that ends with a code":    {`trap 'exit 5' TERM`, "", never, 5, "", false},
		"one that knows no signal":     {`:`, "", never, 143, "terminated", false},
		"one that ignores the signal":  {`trap '' TERM`, "", 100 * time.Millisecond, 137, "killed", true},
		"one whose parent ignores it":  {`trap '' TERM; (trap - TERM; sleep 60) & trap 'exit 4' TERM`, "", never, 4, "", false},
		"one that has children to end": {`(sleep 60) & trap 'exit 0' TERM`, "", never, 0, "", false},
		"one that ends by its own":     {`trap '' TERM; trap 'exit 3' QUIT`, "SIGQUIT", never, 3, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := launches(t, serving(tc.trap)...)
			l.give(0, launch.Command{StopGrace: tc.grace, StopSignal: tc.stop})
			l.stop(0)
			if exit := l.exit(0); exit.Code != tc.code || exit.Signal != tc.signal || exit.Killed != tc.killed || exit.TimedOut {
				t.Errorf("it ended with %+v", exit)
			}
			l.end()
		})
	}
}

func TestAProgramThatEndsByItselfIsNotStopped(t *testing.T) {
	t.Parallel()
	l := launches(t, "/bin/sh", "-c", "exit 9")
	l.give(0, launch.Command{StopGrace: never})
	if exit := l.exit(0); exit.Code != 9 || exit.Killed || exit.TimedOut || exit.Signal != "" {
		t.Errorf("it ended with %+v", exit)
	}
	if err := l.x.Stop(0); err != nil {
		t.Fatal(err)
	}
	l.give(1, launch.Command{StopGrace: never})
	if exit := l.exit(1); exit.Code != 9 || exit.Killed {
		t.Errorf("the stop of one launch ends another: %+v", exit)
	}
	l.end()
}

func TestAStopIsOfOneLaunchAlone(t *testing.T) {
	t.Parallel()
	l := launches(t, serving(`trap 'exit 0' TERM`)...)
	for index := range 3 {
		word := fmt.Sprintf("launch %d\n", index)
		l.give(index, launch.Command{StopGrace: never, Argv: []string{"/bin/sh", "-c", `trap 'exit 0' TERM; printf "$0"; while :; do sleep 0.05; done`, word}})
		l.until(word, func() bool { return l.output() == word })
		l.stop(index)
		if exit := l.exit(index); exit.Code != 0 || exit.Signal != "" || exit.Killed {
			t.Errorf("launch %d ended with %+v", index, exit)
		}
	}
	l.end()
}

func TestALimitEndsWhatNobodyHasStopped(t *testing.T) {
	t.Parallel()
	l := launches(t, serving(`trap '' TERM`)...)
	l.give(0, launch.Command{Limit: 300 * time.Millisecond, StopGrace: never})
	if exit := l.exit(0); !exit.TimedOut || exit.Killed || exit.Signal != "killed" {
		t.Errorf("it ended with %+v: want the limit, and not the stop", exit)
	}
	l.end()
}

func TestWithoutAGraceNobodyIsStopped(t *testing.T) {
	t.Parallel()
	l := launches(t, "/bin/sh", "-c", "echo begun; sleep 0.3; echo done")
	l.give(0, launch.Command{})
	l.stop(0)
	if exit := l.exit(0); exit.Code != 0 || exit.Signal != "" || l.output() != "begun\ndone\n" {
		t.Errorf("it ended with %+v after %q", exit, l.output())
	}
	l.end()
}

func TestWhatAStoppedProgramHasStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	alive := filepath.Join(t.TempDir(), "alive")
	l := launches(t, "/bin/sh", "-c", `(trap '' TERM; while :; do echo x >> "$0"; sleep 0.02; done) & trap 'exit 0' TERM; while [ ! -s "$0" ]; do sleep 0.02; done; echo serving; while :; do sleep 0.05; done`, alive)
	l.give(0, launch.Command{StopGrace: never})
	l.stop(0)
	l.exit(0)
	size := func() int64 {
		info, err := os.Stat(alive)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	last := size()
	l.until("the end of its child", func() bool {
		now := size()
		time.Sleep(200 * time.Millisecond)
		last = size()
		return last == now
	})
	l.end()
}

func TestNothingIsLaunchedThatIsNotOrdered(t *testing.T) {
	t.Parallel()
	l := launches(t, "/bin/sh", "-c", "echo launched")
	l.until("the program's facts", func() bool {
		p, err := l.x.Program()
		return err == nil && len(p.Argv) == 3 && filepath.IsAbs(p.Path)
	})
	l.end()
	if exit, err := l.x.Exited(0); exit != nil || err != nil || l.output() != "" {
		t.Errorf("it was launched: %v, %v, %q", exit, err, l.output())
	}
}

func TestAProfilerThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	x := launch.Exchange(t.TempDir())
	if err := x.Give(0, launch.Command{At: time.Now(), Limit: never, Argv: []string{"/no/such/profiler", "/bin/true"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := launch.Run(t.Context(), x, []string{"/bin/true"}, io.Discard); err == nil || !strings.Contains(err.Error(), "/no/such/profiler") {
		t.Errorf("got %v", err)
	}
}

func TestAnExchangeThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"command-0.json", "exit-0.json", "program.json"} {
		x := launch.Exchange(t.TempDir())
		if err := os.WriteFile(x.Path(file), []byte("{half"), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		switch file {
		case "command-0.json":
			_, err = launch.Run(t.Context(), x, []string{"/bin/true"}, io.Discard)
		case "exit-0.json":
			_, err = x.Exited(0)
		default:
			_, err = x.Program()
		}
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v", file, err)
		}
	}
}

func TestALaunchEndsWithItsParent(t *testing.T) {
	t.Parallel()
	x := launch.Exchange(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &launching{t: t, x: x, done: make(chan error, 1)}
	go func() {
		_, err := launch.Run(ctx, x, serving(`trap '' TERM`), io.Discard)
		l.done <- err
	}()
	l.give(0, launch.Command{StopGrace: never})
	l.until("its first word", func() bool { return l.output() != "" })
	cancel()
	if err := <-l.done; err == nil {
		t.Error("no error")
	}
	if exit, err := x.Exited(0); exit != nil || err != nil {
		t.Errorf("a launch that was given up has an end: %+v, %v", exit, err)
	}
}

func TestTheToolboxIsBroughtWhole(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "toolbox")
	files := map[string]string{"bin/strace": "a program", "lib/loader": "a loader", "valgrind/deep/er/suppressions": "", "debug/.build-id/aa/bb.debug": "symbols"}
	for name, text := range files {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // A restarted init container finds the first one's files.
		if err := launch.BringToolbox(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(to, name)
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
		for _, p := range []string{path, filepath.Dir(path)} {
			if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o055 != 0o055 {
				t.Errorf("another user cannot run %s: %v, %v", p, info, err)
			}
		}
	}
	if err := launch.BringToolbox(filepath.Join(from, "no"), to); err == nil || !strings.Contains(err.Error(), "profilers") {
		t.Errorf("without a toolbox: %v", err)
	}
}
