package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func beside(t *testing.T) (*Launched, Exchange) {
	t.Helper()
	x := Exchange(t.TempDir())
	return NewLaunched(Config{FindParent: func(kernel.Proc) (int, error) { return os.Getpid(), nil }, Exchange: x}), x
}

func ready(t *testing.T, x Exchange, argv ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = Run(ctx, x, argv, io.Discard) // It gets no command, so it ends with its context.
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

func looked(ctx context.Context, p *Launched) (s protocol.State, updates int) {
	p.Watch(ctx, func(change func(*protocol.State)) {
		change(&s)
		updates++
	})
	return s, updates
}

func TestTheExecutableIsReadBeforeAnythingRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		program, script string
	}{
		"a program of its own": {program: os.Args[0]},
		"an interpreter":       {program: "/bin/sh", script: record.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			p, x := beside(t)
			ready(t, x, tc.program)
			s, updates := looked(t.Context(), p)
			if !s.Listening || s.Build == nil || updates != 1 || s.Phase == protocol.Failed {
				t.Fatalf("after %d updates it is %+v", updates, s)
			}
			path, err := filepath.EvalSymlinks(tc.program)
			if err != nil {
				t.Fatal(err)
			}
			if p.binary.Path != path || p.binary.SHA256 == "" || p.binary.Script != tc.script {
				t.Errorf("it read %+v", p.binary)
			}
			interpreted := strings.Contains(s.Build.Static.By, "an interpreter runs the program")
			if interpreted != (tc.script != "") || interpreted && s.Build.Static.Is != record.Unknown {
				t.Errorf("how it was built is %+v", s.Build)
			}
		})
	}
}

func TestAParentThatIsGoneLeavesTheExecutableUnknown(t *testing.T) {
	p, x := beside(t)
	gone := errors.New("its parent is gone")
	p.config.FindParent = func(kernel.Proc) (int, error) { return 0, gone }
	ready(t, x, "/bin/cat")
	if s, _ := looked(t.Context(), p); !s.Listening || s.Build.Optimized.Is != record.Unknown || s.Build.Optimized.By != gone.Error() {
		t.Errorf("got %+v, %+v", s, s.Build)
	}
}

func TestAWatchThatSeesNothingSaysNothing(t *testing.T) {
	p, _ := beside(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*parentPoll)
	defer cancel()
	if s, updates := looked(ctx, p); updates != 0 || s.Listening {
		t.Errorf("after %d updates it is %+v", updates, s)
	}
}

func TestAnExchangeThatCannotBeReadFailsTheAgent(t *testing.T) {
	p, x := beside(t)
	if err := os.WriteFile(x.Path("program.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _ := looked(t.Context(), p); s.Phase != protocol.Failed || s.Listening || !strings.Contains(s.Message, "program.json") {
		t.Errorf("got %+v", s)
	}
}

func TestTheEndOfALaunchIsWaitedForUpToADeadline(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		exit string
		by   time.Duration
		code int
		err  string
	}{
		"its parent has said how":     {ctx: t.Context(), exit: `{"code": 3}`, code: 3},
		"its parent says nothing":     {ctx: t.Context(), by: -time.Second},
		"what it says cannot be read": {ctx: t.Context(), exit: "{", err: "exit-1.json"},
		"the agent ends before":       {ctx: ended, by: time.Hour, err: context.Canceled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			p, x := beside(t)
			if tc.exit != "" {
				if err := os.WriteFile(x.Path("exit-1.json"), []byte(tc.exit), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			exit, err := p.Ended(tc.ctx, 1, time.Now().Add(tc.by))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("it ends with %v, want %q", err, tc.err)
			}
			if (exit != nil) != (tc.code != 0) || exit != nil && exit.Code != tc.code {
				t.Errorf("it has ended with %+v, want code %d", exit, tc.code)
			}
		})
	}
}
