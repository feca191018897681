package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/launch"
)

// A program may replace the files of its exchange, and the agent may be root.
func TestExchangeLeadsNowhereElse(t *testing.T) {
	x, outside := launch.Exchange(t.TempDir()), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(`{"code": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{launch.OutputFile, "exit-0.json", "command-0.json.part", "stop-0.json.part"} {
		if err := os.Symlink(outside, x.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if said := x.Tail(launch.OutputFile, 100); said != "" {
		t.Errorf("the output is that of another file: %q", said)
	}
	if exit, err := x.Exited(0); !errors.Is(err, launch.ErrReplaced) {
		t.Errorf("the exit is that of another file: %+v, %v", exit, err)
	}
	if err := x.Give(0, launch.Command{At: time.Now()}); err == nil {
		t.Error("a command is written to another file")
	}
	if err := x.Stop(0); err == nil {
		t.Error("a stop is written to another file")
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != `{"code": 7}` {
		t.Errorf("the other file is %q, %v", text, err)
	}
}

func TestExchangeDoesNotWaitForAPipe(t *testing.T) {
	x := launch.Exchange(t.TempDir())
	if err := syscall.Mkfifo(x.Path("exit-0.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if exit, err := x.Exited(0); !errors.Is(err, launch.ErrReplaced) {
		t.Errorf("a pipe is read as %+v, %v", exit, err)
	}
}
