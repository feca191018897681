package reexec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/local/image"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
)

type kept struct {
	cmd      *exec.Cmd
	in       io.Closer
	notes    *json.Decoder
	errors   bytes.Buffer
	dir, log string
}

func keeping(t *testing.T, cpus []int, command ...string) *kept {
	t.Helper()
	return keepingWith(t, cpus, append([]string{"--"}, command...))
}

func keepingWith(t *testing.T, cpus []int, args []string) *kept {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{dir: t.TempDir(), log: filepath.Join(t.TempDir(), "log")}
	k.cmd = exec.CommandContext(t.Context(), self, append([]string{KeeperCommand, "--cpus", CPUList(cpus), "--dir", k.dir, "--log", k.log}, args...)...)
	k.cmd.Stderr = &k.errors
	in, err := k.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.in, k.notes = in, json.NewDecoder(out)
	return k
}

func (k *kept) note(t *testing.T) Note {
	t.Helper()
	var n Note
	if err := k.notes.Decode(&n); err != nil {
		t.Fatalf("there is no note: %v: %s", err, k.errors.String())
	}
	return n
}

func (k *kept) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(k.in.Close(), k.cmd.Wait()); err != nil {
		t.Errorf("the keeper ends with %v: %s", err, k.errors.String())
	}
}

func (k *kept) written(t *testing.T, name string) string {
	t.Helper()
	var line string
	reexectest.Await(t, name+" was written", func() bool {
		text, err := os.ReadFile(filepath.Join(k.dir, name))
		line = strings.TrimSuffix(string(text), "\n")
		return err == nil && line != string(text)
	})
	return line
}

func TestAKeeperTellsHowItsProgramHasEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		command []string
		want    keeperExit
	}{
		"by itself, and well":             {[]string{"/bin/true"}, keeperExit{0, "Completed"}},
		"by itself, with a status":        {[]string{"/bin/sh", "-c", "exit 3"}, keeperExit{3, "Error"}},
		"by a signal that it might catch": {[]string{"/bin/sh", "-c", "kill -TERM $$"}, keeperExit{143, "terminated"}},
		"by a signal that nobody catches": {[]string{"/bin/sh", "-c", "kill -KILL $$"}, keeperExit{137, "killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := keeping(t, reexectest.OwnCPUs(t), tc.command...)
			if first := k.note(t); first.PID <= 0 || first.Failed != "" || first.Exited != nil {
				t.Errorf("its first note is %+v", first)
			}
			if second := k.note(t); second.Exited == nil || *second.Exited != tc.want {
				t.Errorf("its second note is %+v, want that it exited as %+v", second.Exited, tc.want)
			}
			k.end(t)
		})
	}
}

// Without a wait, an orphan stays in the list of processes.
func TestKeeperWaitsForOrphans(t *testing.T) {
	k := keeping(t, reexectest.OwnCPUs(t), "/bin/sh", "-c", `(/bin/sh -c 'echo $$ > orphan' &); exec sleep 1000`)
	if first := k.note(t); first.Failed != "" {
		t.Fatal(first.Failed)
	}
	orphan := k.written(t, "orphan")
	reexectest.Await(t, "the orphan was waited for", func() bool {
		_, err := os.Stat(filepath.Join("/proc", orphan))
		return errors.Is(err, os.ErrNotExist)
	})
	k.end(t)
}

// The keeper's agents find the program's parent as the keeper's child, and its output in the exchange.
func TestKeeperRunsAProgramThatMeasuresItselfInItsSandbox(t *testing.T) {
	users, err := image.FreeUsers()
	if err == nil {
		err = image.Permitted(users)
	}
	if err != nil {
		t.Skipf("this machine permits no sandbox: %v", err)
	}
	dir, x := t.TempDir(), launch.Exchange(t.TempDir())
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "probe"), "../image/testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v: %s", err, out)
	}
	for _, place := range append(image.MountFolders(), "etc") {
		if err := os.Mkdir(filepath.Join(dir, place), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args, err := RootArgs(image.Root{Dir: dir, Process: image.Process{Argv: []string{"/probe"}, Folder: "/"}, Exchange: string(x), Users: users, Processes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Give(0, launch.Command{At: time.Now(), Limit: reexectest.Patience}); err != nil {
		t.Fatal(err)
	}
	k := keepingWith(t, reexectest.OwnCPUs(t), args)
	started := k.note(t)
	if started.Failed != "" {
		t.Fatal(started.Failed)
	}
	var exit *launch.Exit
	reexectest.Await(t, "the program ended", func() bool {
		exit, err = x.Exited(0)
		return exit != nil || err != nil
	})
	if err != nil || exit.Code != 0 {
		t.Fatalf("it ends with %+v, %v: %s", exit, err, x.Tail(launch.ErrorsFile, 1000))
	}
	if pid, err := observe.OldestChildOf(k.cmd.Process.Pid)("/proc"); err != nil || pid != started.PID {
		t.Errorf("its parent is process %d, %v, want %d", pid, err, started.PID)
	}
	said := x.Tail(launch.OutputFile, 10000)
	for _, want := range []string{`"CapEff":"0000000000000000"`, `"Seccomp":"2"`, `"/own":"refused"`} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not see %s: %s", want, said)
		}
	}
	if strings.Contains(said, "/.loadstone/own") {
		t.Errorf("it cannot write to the exchange: %s", said)
	}
	if err := x.Collected(); err != nil {
		t.Fatal(err)
	}
	k.end(t)
}

func TestAKeeperTellsOfAProgramThatCannotBeStarted(t *testing.T) {
	noProgram := reexectest.Write(t, filepath.Join(t.TempDir(), "text"), "This is no program.\n", 0o700)
	for name, command := range map[string]string{"a file that is not there": "/no/such/program", "a file that is no program": noProgram} {
		t.Run(name, func(t *testing.T) {
			k := keeping(t, reexectest.OwnCPUs(t), command)
			if first := k.note(t); first.PID != 0 || !strings.Contains(first.Failed, command) {
				t.Errorf("its first note is %+v", first)
			}
			k.end(t)
		})
	}
}

func TestAKeptProgramHasItsPlace(t *testing.T) {
	cpus := reexectest.OwnCPUs(t)
	last := cpus[len(cpus)-1]
	k := keeping(t, []int{last}, "/bin/sh", "-c", "pwd -P; grep Cpus_allowed_list /proc/self/status; echo trouble >&2")
	k.note(t)
	k.note(t)
	k.end(t)
	text, err := os.ReadFile(k.log)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{dir + "\n", fmt.Sprintf("Cpus_allowed_list:\t%d\n", last), "trouble\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("its output does not hold %q:\n%s", want, text)
		}
	}
}

// Each program leaves another process, which writes its PID.
func TestAKeeperLeavesNoProcess(t *testing.T) {
	const stubborn = `sh -c 'trap "" TERM; echo $$ > left; exec sleep 1000'`
	for name, tc := range map[string]struct {
		command string
		exits   bool
	}{
		"of a program that goes on":                    {stubborn + " & wait", false},
		"of a program that does not heed the signal":   {"exec " + stubborn, false},
		"of a program in another group":                {"setsid " + stubborn + " & wait", false},
		"of a program that has ended before":           {"setsid " + stubborn + " & exit 0", true},
		"of a program whose child's parent has ended":  {"(setsid " + stubborn + " &) ; exec sleep 1000", false},
		"of a program that failed and left two behind": {"setsid sleep 1000 & setsid " + stubborn + " & exit 1", true},
	} {
		t.Run(name, func(t *testing.T) {
			k := keeping(t, reexectest.OwnCPUs(t), "/bin/sh", "-c", tc.command)
			started := k.note(t)
			left, err := strconv.Atoi(k.written(t, "left"))
			if err != nil {
				t.Fatal(err)
			}
			if tc.exits && k.note(t).Exited == nil {
				t.Error("it does not tell that the program has ended")
			}
			if _, err := kernel.Proc("/proc").Process(left); err != nil {
				t.Errorf("process %d was ended before the run was over: %v", left, err)
			}
			k.end(t)
			for _, pid := range []int{left, started.PID} {
				if p, err := kernel.Proc("/proc").Process(pid); err == nil {
					t.Errorf("process %d is left: %+v", pid, p)
				}
			}
		})
	}
}

// A program may take a second to end. A busy machine may need more, so the test retries.
func TestAKeptProgramIsAskedToEndBeforeItIsKilled(t *testing.T) {
	for end := time.Now().Add(reexectest.Patience); time.Now().Before(end); {
		k := keeping(t, reexectest.OwnCPUs(t), "/bin/sh", "-c", `trap 'echo goodbye > said; exit 0' TERM; echo ready > ready; while :; do sleep 1000; done`)
		k.note(t)
		k.written(t, "ready")
		k.end(t)
		if text, err := os.ReadFile(filepath.Join(k.dir, "said")); err == nil && string(text) == "goodbye\n" {
			return
		}
	}
	t.Error("it did not say goodbye")
}

func TestAHelperThatWasStartedByHandSaysSo(t *testing.T) {
	for name, args := range map[string][]string{
		"a keeper without a command":         {KeeperCommand, "--cpus", "0"},
		"a keeper with a flag that is none":  {KeeperCommand, "--dirr", ".", "--", "/bin/true"},
		"an agent without arguments":         {AgentCommand},
		"an agent with a flag that is none":  {AgentCommand, "--port", "80"},
		"a parent without a program":         {LaunchCommand, "--exchange", "/tmp"},
		"a parent with a flag that is none":  {LaunchCommand, "--limit", "1s", "--", "/bin/true"},
		"a parent that is asked for no more": {LaunchCommand, "--"},
		"a server without a port":            {ServerCommand},
		"a network without a socket":         {NetworkCommand},
		"a server with an argument":          {ServerCommand, "--port=80", "more"},
	} {
		t.Run(name, func(t *testing.T) {
			if !Is(args) {
				t.Fatalf("%q is no helper", args[0])
			}
			var out bytes.Buffer
			status, err := Help(t.Context(), args, strings.NewReader(""), &out, io.Discard)
			if status != 1 || err == nil || !strings.Contains(err.Error(), args[0]+" is a part of loadstone run") || out.Len() > 0 {
				t.Errorf("it ends with status %d, %v, and prints %q", status, err, out.String())
			}
		})
	}
}

func TestWhatPeopleTypeIsNoHelper(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {"run", "local-agent"}, {"run"}, {"agent"}, {"--help", KeeperCommand}} {
		if Is(args) {
			t.Errorf("%q is a helper", args)
		}
	}
}
