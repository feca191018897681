package launch_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/launch"
)

func collected(t *testing.T, limit time.Duration, argv ...string) (x launch.Exchange, exit *launch.Exit, code int, said string) {
	t.Helper()
	x = launch.Exchange(t.TempDir())
	if err := x.Give(0, launch.Command{At: time.Now().Add(20 * time.Millisecond), Limit: limit}); err != nil {
		t.Fatal(err)
	}
	if err := x.Collected(); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	code, err := launch.Run(t.Context(), x, argv, &errs)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err = x.Exited(0); err != nil || exit == nil {
		t.Fatalf("how it ended: %v, %v", exit, err)
	}
	return x, exit, code, errs.String()
}

func TestAProgramIsRunToItsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		argv           []string
		code           int
		signal, output string
		said           string
	}{
		"one that prints":              {argv: []string{"/bin/echo", "one", "two words"}, output: "one two words\n"},
		"one that is found in PATH":    {argv: []string{"true"}},
		"one that fails":               {argv: []string{"/bin/sh", "-c", "echo why >&2; exit 3"}, code: 3, said: "why\n"},
		"one that is ended":            {argv: []string{"/bin/sh", "-c", "kill -TERM $$"}, code: 143, signal: "terminated"},
		"arguments that a shell reads": {argv: []string{"/bin/echo", "$HOME;*"}, output: "$HOME;*\n"},
	} {
		t.Run(name, func(t *testing.T) {
			x, exit, code, said := collected(t, time.Minute, tc.argv...)
			output, err := os.ReadFile(x.Path(launch.OutputFile))
			if err != nil {
				t.Fatal(err)
			}
			if code != 0 || exit.Code != tc.code || exit.Signal != tc.signal || string(output) != tc.output || said != tc.said || exit.TimedOut {
				t.Errorf("exit code %d, %+v, output %q, said %q", code, exit, output, said)
			}
		})
	}
}

func TestAProgramThatNobodyCollectsEndsItsParentWithItsCode(t *testing.T) {
	t.Parallel()
	x := launch.Exchange(t.TempDir())
	if err := x.Give(0, launch.Command{At: time.Now(), Limit: time.Minute}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	if code, err := launch.Run(ctx, x, []string{"/bin/sh", "-c", "exit 3"}, io.Discard); err != nil || code != 3 {
		t.Errorf("exit code %d, %v; want 3", code, err)
	}
}

func TestTheEndOfAFileIsQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "said")
	if err := os.WriteFile(path, []byte("first line\nthe  last\nwords\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := launch.Tail(path, 12); got != "last words" {
		t.Errorf("quoted %q", got)
	}
	if got := launch.Tail(path+"-not-there", 12) + launch.Tail("/dev/null", 12); got != "" {
		t.Errorf("quoted %q of nothing", got)
	}
}

func TestTheCostOfAProgramIsWhatTheKernelSays(t *testing.T) {
	_, exit, _, _ := collected(t, time.Minute, "/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
	if exit.UserNanos+exit.SystemNanos <= 0 || exit.PeakMemoryBytes < 0 || !exit.Ended.After(exit.Started) {
		t.Errorf("it cost %+v", exit)
	}
}

func TestAProgramThatTakesTooLongIsEndedWithItsChildren(t *testing.T) {
	t.Parallel()
	child := filepath.Join(t.TempDir(), "child")
	x, exit, _, _ := collected(t, 2*time.Second, "/bin/sh", "-c", `sleep 1000 & echo $! > "$0"; echo begun; sleep 1000`, child)
	if !exit.TimedOut || exit.Signal != "killed" {
		t.Errorf("it ended as %+v", exit)
	}
	text, err := os.ReadFile(child)
	if said, _ := os.ReadFile(x.Path(launch.OutputFile)); err != nil || len(said) == 0 {
		t.Skipf("the machine was so slow that it had no child yet: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// A killed process may remain until it is reaped.
	for deadline := time.Now().Add(never); ; time.Sleep(5 * time.Millisecond) {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("its child has survived: %s", state)
		}
	}
}

func TestAProgramThatIsNotThereIsMissedBeforeAnyOrder(t *testing.T) {
	for name, argv := range map[string][]string{"no command": nil, "no such program": {"/no/such/program"}} {
		t.Run(name, func(t *testing.T) {
			if _, err := launch.Run(t.Context(), launch.Exchange(t.TempDir()), argv, os.Stderr); err == nil || !strings.Contains(err.Error(), "starting the program") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWaitingForTheOrderEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := launch.Run(ctx, launch.Exchange(t.TempDir()), []string{"/bin/true"}, os.Stderr); err == nil {
		t.Error("no error")
	}
}

func TestTheAgentIsBroughtWhole(t *testing.T) {
	to := filepath.Join(t.TempDir(), "agent")
	if err := launch.Bring(to); err != nil {
		t.Fatal(err)
	}
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.Stat(to)
	if err != nil || copied.Size() != own.Size() || copied.Mode().Perm()&0o111 == 0 {
		t.Errorf("the copy is %v, %v; want %d bytes that can be executed", copied, err, own.Size())
	}
}
