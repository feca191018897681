package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestProgressIsToldUntilSomethingEndsTheWait(t *testing.T) {
	lost := conduct.TransientFailure(v1alpha1.ReasonAgentLost, "it is gone")
	for name, tc := range map[string]struct {
		end  func(own *team, cancel context.CancelFunc)
		want *conduct.Failure
		err  error
	}{
		"a process that fails":      {func(own *team, _ context.CancelFunc) { own.fail(lost) }, lost, nil},
		"somebody who ends the run": {func(_ *team, cancel context.CancelFunc) { cancel() }, nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a := tried(led(t, quick()))
			a.Started, a.options.Every = time.Now(), time.Millisecond
			var told []progress.Event
			a.options.Tell = func(e progress.Event) {
				if told = append(told, e); len(told) == 3 {
					tc.end(a.team, cancel)
				}
			}
			if f, err := a.awaitEnd(ctx); f != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("it ends with %+v, %v", f, err)
			}
			if len(told) < 3 {
				t.Errorf("it tells %d times how far it is", len(told))
			}
			for _, e := range told {
				if e.Kind != progress.EventProgress || e.Trial == nil || e.Trial.Name != a.trial.Name || e.All != 8 {
					t.Errorf("it tells %+v", e)
				}
			}
		})
	}
}

func TestAnAttemptWhoseTimeIsOverIsNotWaitedFor(t *testing.T) {
	a := tried(led(t, quick()))
	a.Started = time.Now().Add(-time.Hour)
	a.options.Tell = func(e progress.Event) { t.Errorf("it tells %+v", e) }
	if f, err := a.awaitEnd(t.Context()); f != nil || err != nil {
		t.Errorf("it ends with %+v, %v", f, err)
	}
}

func TestATrialKnowsWhenAndWhereItWasStarted(t *testing.T) {
	a := tried(led(t, quick()))
	for _, m := range a.team.members {
		m.agent = nil // Nobody is asked.
	}
	before := time.Now()
	if f, err := a.start(t.Context()); f != nil || err != nil {
		t.Fatalf("it ends with %+v, %v", f, err)
	}
	if a.Started.Before(before.Add(conduct.StartLead)) || a.Started.After(time.Now().Add(conduct.StartLead)) || !a.trial.Started.Equal(a.Started) {
		t.Errorf("it starts at %s, its trial at %s; told at %s", a.Started, a.trial.Started, before)
	}
	if diff := cmp.Diff(a.bound(), a.trial.Nodes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnAgentThatWasNeverStartedIsLost(t *testing.T) {
	m := observed(t, reexectest.OwnCPUs(t), "observe", "--port=1")
	a := tried(led(t, quick()))
	// A member without an agent is not waited for.
	a.team.members = []*member{{Member: kind.Member{Name: "generator-0"}}, m}
	f, err := a.awaitAgents(t.Context())
	if err != nil || f == nil || f.Kind != conduct.Transient || f.Reason != v1alpha1.ReasonAgentLost || !strings.Contains(f.Message, "(server-0) never received its start") {
		t.Fatalf("it ends with %+v, %v", f, err)
	}
	if !f.Unstarted {
		t.Error("a start that nobody has received costs a block, and not an attempt")
	}
}

func serverOf(t *testing.T) (*attempt, *member) {
	t.Helper()
	a := tried(led(t, quick()))
	a.team = assembled(t)
	members := a.Work.Members()
	return a, joined(t, a.team, members[len(members)-1])
}

func TestAProgramIsStartedAsItIsPlanned(t *testing.T) {
	folder, cpus := t.TempDir(), reexectest.OwnCPUs(t)
	path := reexectest.Write(t, filepath.Join(folder, "server"), "#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status\necho $1\nexit 4\n", 0o700)
	a, m := serverOf(t)
	f, err := a.startProgram(m, place{cpus: cpus, rest: cpus, folder: folder}, kind.Process{Command: []string{"./server", "argument"}, MilliCPU: 1000})
	if f != nil || err != nil {
		t.Fatalf("it is not started: %+v, %v", f, err)
	}
	want := fmt.Sprintf("implementations[%s] exited (exit code 4, Error", a.trial.Servers[0])
	if ended := anyFault(t, a.team); !strings.HasPrefix(ended.Message, want) {
		t.Errorf("it ends with %q, want %q", ended.Message, want)
	}
	// One CPU is planned: the first of the servers'.
	if text, err := os.ReadFile(m.log); err != nil || string(text) != fmt.Sprintf("Cpus_allowed_list:\t%d\nargument\n", cpus[0]) {
		t.Errorf("it prints %q, %v", text, err)
	}
	sum, err := digest(folder, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]program{{path, sum}}, a.programs, cmp.AllowUnexported(program{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAProgramThatMeasuresItselfWaitsForItsOrder(t *testing.T) {
	folder, cpus := t.TempDir(), reexectest.OwnCPUs(t)
	path := reexectest.Write(t, filepath.Join(folder, "bench"), "#!/bin/sh\necho > ran\n", 0o700)
	a, m := serverOf(t)
	f, err := a.startProgram(m, place{cpus: cpus, rest: cpus, folder: folder}, kind.Process{Command: []string{"./bench"}, MilliCPU: 1000, Launched: true})
	if f != nil || err != nil {
		t.Fatalf("it is not started: %+v, %v", f, err)
	}
	var found string
	reexectest.Await(t, "the program's parent has found it", func() bool {
		program, failed := launch.Exchange(m.exchange).Program()
		found, err = program.Path, failed
		return err != nil || found != ""
	})
	if want, other := filepath.EvalSymlinks(path); found != want || err != nil || other != nil {
		t.Errorf("it has found %q, %v, want %q", found, err, path)
	}
	a.team.end()
	if _, err := os.Stat(filepath.Join(folder, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program ran without a command: %v", err)
	}
}

func TestAProgramThatIsGoneFailsItsTrialForGood(t *testing.T) {
	a, m := serverOf(t)
	f, err := a.startProgram(m, place{cpus: reexectest.OwnCPUs(t), rest: reexectest.OwnCPUs(t), folder: t.TempDir()}, kind.Process{Command: []string{"./server"}, MilliCPU: 1000})
	want := fmt.Sprintf("implementations[%s].command: there is no program ", a.trial.Servers[0])
	if err != nil || f == nil || f.Kind != conduct.Permanent || f.Reason != v1alpha1.ReasonServerExited || !strings.HasPrefix(f.Message, want) {
		t.Errorf("it ends with %+v, %v, want %q", f, err, want)
	}
	if len(a.programs) > 0 || m.keeper != nil {
		t.Errorf("it leaves %+v and %+v", a.programs, m.keeper)
	}
}
