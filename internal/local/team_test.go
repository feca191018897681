package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

var (
	plainServer = record.Implementation{Name: "plain", Port: 1, CPUs: 1}
	serving     = sweep.Sweep{Implementations: []record.Implementation{plainServer}}
)

// assembled is an empty team whose processes end with the test. The test is locked to its thread, like a run.
func assembled(t *testing.T) *team {
	t.Helper()
	runtime.LockOSThread()
	own := &team{faults: make(chan *conduct.Failure, 1)}
	t.Cleanup(func() {
		own.end()
		runtime.UnlockOSThread()
	})
	return own
}

func joined(t *testing.T, own *team, m kind.Member) *member {
	t.Helper()
	made, err := newMember(t.TempDir(), m, &conduct.Trial{PlannedTrial: record.PlannedTrial{Name: "quick-000-plain", Servers: []string{"plain"}}})
	if err != nil {
		t.Fatal(err)
	}
	own.members = append(own.members, made)
	return made
}

func observed(t *testing.T, cpus []int, args ...string) *member {
	t.Helper()
	own := assembled(t)
	m := joined(t, own, kind.Member{Name: record.MemberServer(0), Role: v1alpha1.RoleServer})
	if err := own.startAgent(m, cpus, []string{"--trial", "quick-000-plain", "--node", "here"}, args); err != nil {
		t.Fatal(err)
	}
	return m
}

func anyFault(t *testing.T, own *team) *conduct.Failure {
	t.Helper()
	select {
	case f := <-own.faults:
		return f
	case <-time.After(reexectest.Patience):
		t.Fatal("no process fails")
		return nil
	}
}

func TestAServerThatEndsFailsItsTrial(t *testing.T) {
	ends := microbenchmark.Microbenchmark{Program: plainServer}
	for name, tc := range map[string]struct {
		work    kind.Work
		command string
		want    conduct.Failure
	}{
		"with words": {serving, "echo first; echo no such file >&2; exit 7", conduct.Failure{
			Kind: conduct.Permanent, Reason: v1alpha1.ReasonServerExited,
			Message: `implementations[plain] exited (exit code 7, Error, last output: "first no such file")`,
		}},
		"well, which a server must not": {serving, "exit 0", conduct.Failure{
			Kind: conduct.Permanent, Reason: v1alpha1.ReasonServerExited, Message: "implementations[plain] exited (exit code 0, Completed)",
		}},
		"by a signal": {serving, "kill -SEGV $$", conduct.Failure{
			Kind: conduct.Permanent, Reason: v1alpha1.ReasonServerExited, Message: "implementations[plain] exited (exit code 139, segmentation fault)",
		}},
		"as the parent of a program that failed": {ends, "exit 2", conduct.Failure{
			Kind: conduct.Permanent, Reason: v1alpha1.ReasonProgramFailed, Message: "implementations[plain] exited (exit code 2, Error)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			own := assembled(t)
			m := joined(t, own, kind.Member{Name: record.MemberServer(0), Role: v1alpha1.RoleServer})
			at := place{cpus: reexectest.OwnCPUs(t), rest: reexectest.OwnCPUs(t), folder: t.TempDir()}
			if f, err := own.startServer(m, at, []string{"/bin/sh", "-c", tc.command}, tc.work, plainServer); f != nil || err != nil {
				t.Fatalf("it is not started: %+v, %v", f, err)
			}
			if diff := cmp.Diff(tc.want, *anyFault(t, own)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAServerHasTheVariablesOfItsImplementation(t *testing.T) {
	t.Setenv("OF_ALL", "inherited")
	own := assembled(t)
	m := joined(t, own, kind.Member{Name: record.MemberServer(0), Role: v1alpha1.RoleServer})
	at := place{cpus: reexectest.OwnCPUs(t), rest: reexectest.OwnCPUs(t), folder: t.TempDir()}
	set := plainServer
	set.Container.Env = []record.Variable{{Name: "MODE", Value: "a $HOME of words"}, {Name: "OF_ALL", Value: "its own"}}
	if f, err := own.startServer(m, at, []string{"/bin/sh", "-c", `echo "$MODE, $OF_ALL"; exit 7`}, serving, set); f != nil || err != nil {
		t.Fatalf("it is not started: %+v, %v", f, err)
	}
	if got := anyFault(t, own).Message; !strings.Contains(got, `"a $HOME of words, its own"`) {
		t.Errorf("it has seen %s", got)
	}
}

func TestAServerThatCannotBeStartedIsAFailureForGood(t *testing.T) {
	own := assembled(t)
	m := joined(t, own, kind.Member{Name: record.MemberServer(0), Role: v1alpha1.RoleServer})
	f, err := own.startServer(m, place{cpus: reexectest.OwnCPUs(t), rest: reexectest.OwnCPUs(t), folder: t.TempDir()}, []string{"/no/such/program"}, serving, plainServer)
	if err != nil || f == nil || f.Kind != conduct.Permanent || !strings.Contains(f.Message, "implementations[plain] cannot be started: ") || !strings.Contains(f.Message, "/no/such/program") {
		t.Errorf("it ends with %+v, %v", f, err)
	}
}

func TestTheEndOfATeamIsNoFault(t *testing.T) {
	own := assembled(t)
	m := joined(t, own, kind.Member{Name: record.MemberServer(0), Role: v1alpha1.RoleServer})
	at := place{cpus: reexectest.OwnCPUs(t), rest: reexectest.OwnCPUs(t), folder: t.TempDir()}
	if f, err := own.startServer(m, at, []string{"/bin/sh", "-c", "exec sleep 1000"}, serving, plainServer); f != nil || err != nil {
		t.Fatalf("it is not started: %+v, %v", f, err)
	}
	if err := own.startAgent(m, reexectest.OwnCPUs(t), nil, []string{"observe", "--port=1"}); err != nil {
		t.Fatal(err)
	}
	keeper, observer := m.keeper.PID, m.agent.PID
	own.end()
	own.end() // Ending twice is allowed.
	for _, pid := range []int{keeper, observer} {
		if p, err := kernel.Proc("/proc").Process(pid); err == nil {
			t.Errorf("process %d is left: %+v", pid, p)
		}
	}
	if f := own.fault(); f != nil {
		t.Errorf("the team has the fault %+v", f)
	}
}

func TestOnlyTheFirstFaultOfATeamCounts(t *testing.T) {
	own := &team{faults: make(chan *conduct.Failure, 1)}
	own.fail(nil)
	if f := own.fault(); f != nil {
		t.Errorf("nothing is the fault %+v", f)
	}
	own.fail(conduct.PermanentFailure(v1alpha1.ReasonServerExited, "the cause"))
	own.fail(conduct.TransientFailure(v1alpha1.ReasonAgentLost, "the consequence"))
	if f := own.fault(); f == nil || f.Message != "the cause" {
		t.Errorf("the fault is %+v", f)
	}
	if f := own.fault(); f != nil {
		t.Errorf("it has another fault: %+v", f)
	}
}

func TestAnAgentAnswersOnItsCPUs(t *testing.T) {
	cpus := reexectest.OwnCPUs(t)
	for _, cpu := range []int{cpus[0], cpus[len(cpus)-1]} {
		t.Run(fmt.Sprint(cpu), func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			before := threadCPUs(t)
			m := observed(t, []int{cpu}, "observe", "--port=1")
			if f, err := m.ask(protocol.Command{}); f != nil || err != nil {
				t.Fatalf("it does not answer: %+v, %v", f, err)
			}
			if s := m.state; s.Member != "server-0" || s.Trial != "quick-000-plain" || s.Phase != protocol.Idle || s.CPUsAllowed != strconv.Itoa(cpu) {
				t.Errorf("it says %+v", s)
			}
			if after := threadCPUs(t); after != before {
				t.Errorf("starting it has moved the thread from %v to %v", before, after)
			}
		})
	}
}

func threadCPUs(t *testing.T) unix.CPUSet {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestARefusalIsAFailureOfTheAgent(t *testing.T) {
	m := observed(t, reexectest.OwnCPUs(t), "observe", "--port=1")
	f, err := m.ask(protocol.Command{Start: &protocol.Start{Targets: []string{"127.0.0.1:1"}}})
	if err != nil || f == nil || f.Kind != conduct.Transient || f.Reason != v1alpha1.ReasonAgentFailed || !strings.HasPrefix(f.Message, "the agent of server-0 refused: ") {
		t.Errorf("it ends with %+v, %v", f, err)
	}
	if f, err := m.ask(protocol.Command{}); f != nil || err != nil || m.state.Phase != protocol.Idle {
		t.Errorf("then it says %+v, with %+v, %v", m.state, f, err)
	}
}

func TestAnAgentThatHasEndedIsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		kill bool
		want string
	}{
		"since nobody knows its kind":     {[]string{"juggle"}, false, `the agent of server-0 exited (exit code 1, exit status 1, last output: "loadstone: no agent is called \"juggle\"")`},
		"since it has no place to listen": {[]string{"observe", "--port=none"}, false, "the agent of server-0 exited (exit code 1, exit status 1"},
		"since somebody has killed it":    {[]string{"observe", "--port=1"}, true, "the agent of server-0 exited (exit code -1, signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			m := observed(t, reexectest.OwnCPUs(t), tc.args...)
			if tc.kill {
				if err := syscall.Kill(m.agent.PID, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			f, err := m.ask(protocol.Command{})
			if err != nil || f == nil || f.Kind != conduct.Transient || f.Reason != v1alpha1.ReasonAgentLost {
				t.Fatalf("it ends with %+v, %v", f, err)
			}
			if !strings.HasPrefix(f.Message, tc.want) {
				t.Errorf("it says %s, want %s", f.Message, tc.want)
			}
		})
	}
}

func TestAProcessThatHasEndedDoesNotAnswer(t *testing.T) {
	own := assembled(t)
	m := joined(t, own, kind.Member{Name: record.MemberServer(0), Role: v1alpha1.RoleServer})
	log, err := own.openLog(m.log + ".agent")
	if err != nil {
		t.Fatal(err)
	}
	// A keeper sends notes unasked.
	args := []string{reexec.KeeperCommand, "--cpus", reexec.CPUList(reexectest.OwnCPUs(t)), "--dir", m.dir, "--log", m.log, "--", "/bin/true"}
	if m.agent, err = reexec.Start(nil, reexec.Child{Args: args, CPUs: reexectest.OwnCPUs(t), Orphaned: syscall.SIGKILL}, log, nil); err != nil {
		t.Fatal(err)
	}
	var first reexec.Note
	if !m.agent.Exchange([]byte("\n"), &first) || first.PID == 0 {
		t.Errorf("its first words are %+v", first)
	}
	m.agent.End()
	var answer json.RawMessage
	if m.agent.Exchange([]byte("\n"), &answer) {
		t.Errorf("a process that has ended answers %s", answer)
	}
}

func TestAMemberHasFoldersOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{record.MemberGenerator(0), record.MemberServer(0), record.MemberServer(1)} {
		m, err := newMember(dir, kind.Member{Name: name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{m.dir, m.exchange} {
			if info, err := os.Stat(folder); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", folder, info, err)
			}
		}
		paths = append(paths, m.dir, m.exchange, m.log)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] || filepath.Dir(path) != dir {
			t.Errorf("%s is another one's, or lies elsewhere", path)
		}
		seen[path] = true
	}
	file := reexectest.Write(t, filepath.Join(dir, "file"), "", 0o600)
	if _, err := newMember(file, kind.Member{Name: "server-0"}, nil); err == nil || !strings.Contains(err.Error(), "server-0") {
		t.Errorf("a member below a file ends with %v", err)
	}
}

func TestATeamKnowsWhoIsMeasured(t *testing.T) {
	own := &team{}
	for _, name := range []string{"generator-0", "generator-1", "server-0", "server-1"} {
		role := v1alpha1.RoleGenerator
		if record.IsServer(name) {
			role = v1alpha1.RoleServer
		}
		own.members = append(own.members, &member{Member: kind.Member{Name: name, Role: role}})
	}
	names := func(list []*member) (out []string) {
		for _, m := range list {
			out = append(out, m.Name)
		}
		return out
	}
	if got := names(own.servers()); !cmp.Equal(got, []string{"server-0", "server-1"}) {
		t.Errorf("its servers are %v", got)
	}
	if got := names(own.generators()); !cmp.Equal(got, []string{"generator-0", "generator-1"}) {
		t.Errorf("its generators are %v", got)
	}
}
