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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{dir: t.TempDir(), log: filepath.Join(t.TempDir(), "log")}
	k.cmd = exec.CommandContext(t.Context(), self, append([]string{KeeperCommand, "--cpus", CPUList(cpus), "--dir", k.dir, "--log", k.log, "--"}, command...)...)
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
