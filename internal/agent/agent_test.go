package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestObserverSeesThePort(t *testing.T) {
	target := newTarget(t, hello)
	port, err := strconv.Atoi(target[strings.LastIndex(target, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c Config) Worker { return observing(t, c, port) })
	b.await("listening", func(s protocol.State) bool {
		return s.Listening && s.Build != nil && s.Build.Optimized.Is == record.Yes
	})
	if status, _, text := b.command(protocol.Command{Check: &protocol.Check{}}); status != 422 {
		t.Errorf("a check was answered %d: %s", status, text)
	}
}

func observing(t *testing.T, c Config, port int) Worker {
	t.Helper()
	c.Member = record.MemberServer(0)
	c.Sandbox.FindServer = func(kernel.Proc) (int, error) { return os.Getpid(), nil }
	own, err := c.Observer(port)
	if err != nil {
		t.Fatal(err)
	}
	return observe.New(own)
}

func TestAgentObeysAStartOnceAndHoldsItsFiles(t *testing.T) {
	b := newBench(t, func(c Config) Worker {
		return idler{dir: c.Dir, fails: map[string]string{"sweep-1": "the tool was killed"}, writes: map[string]string{"a.txt": "text", "b.txt": ""}}
	})
	if got := b.state(); got.Phase != protocol.Idle || got.CPUsAllowed != kernel.OwnCPUsAllowed() {
		t.Errorf("before its start the agent is %s on the CPUs %s, and may run on %s", got.Phase, got.CPUsAllowed, kernel.OwnCPUsAllowed())
	}
	start := starting(patience, cell(1), cell(2))
	for i := range 2 {
		if s := b.must(protocol.Command{Start: &start}); s.Phase != protocol.Running && s.Phase != protocol.Measured {
			t.Errorf("after its start, sent %d times, the agent is %s", i+1, s.Phase)
		}
	}
	other := start
	other.At = start.At.Add(time.Second)
	if status, _, text := b.command(protocol.Command{Start: &other}); status != http.StatusConflict {
		t.Errorf("another start was answered %d: %s", status, text)
	}
	state := b.await("Measured", measured)
	if state.CellsDone != 2 || state.Message != "sweep-1: the tool was killed" {
		t.Errorf("got %d cells done, message %q", state.CellsDone, state.Message)
	}
	checkFiles(t, b.dir, state.Files, "a.txt", "b.txt", "result.json")
	if body, err := os.ReadFile(filepath.Join(b.dir, "result.json")); err != nil || string(body) != "{\n  \"cells\": 2\n}\n" {
		t.Errorf("the record is %q, error %v", body, err)
	}
}

func TestAgentThatCannotDoItsWorkSaysWhy(t *testing.T) {
	b := newBench(t, func(c Config) Worker { return idler{dir: c.Dir, err: errors.New("the disk is full")} })
	start := starting(patience, cell(1))
	b.must(protocol.Command{Start: &start})
	state := b.await("Failed", func(s protocol.State) bool { return s.Phase == protocol.Failed })
	if state.Message != "the disk is full" || len(state.Files) > 0 {
		t.Errorf("message %q, files %+v", state.Message, state.Files)
	}
}

func TestAnAgentHoldsWhatAFailedProgramPrinted(t *testing.T) {
	fault := &protocol.ProgramFault{Fault: protocol.FaultExit, Message: "exit code 3"}
	for name, writes := range map[string]map[string]string{"nothing": nil, "something": {"output.txt": "oh"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c Config) Worker { return idler{dir: c.Dir, writes: writes, err: fault} })
			start := starting(patience, cell(1))
			b.must(protocol.Command{Start: &start})
			want := protocol.Failed
			if len(writes) > 0 {
				want = protocol.Measured
			}
			state := b.await(string(want), func(s protocol.State) bool { return s.Phase == want })
			if state.Program == nil || *state.Program != *fault {
				t.Errorf("the fault is %+v", state.Program)
			}
			if len(writes) > 0 {
				checkFiles(t, b.dir, state.Files, "output.txt")
			}
		})
	}
}

func checkFiles(t *testing.T, dir string, files []protocol.File, want ...string) {
	t.Helper()
	if len(files) != len(want) {
		t.Fatalf("got files %+v, want %q", files, want)
	}
	for i, f := range files {
		body, err := os.ReadFile(filepath.Join(dir, want[i]))
		if err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(body)
		if f.Name != want[i] || f.Bytes != int64(len(body)) || f.SHA256 != hex.EncodeToString(digest[:]) {
			t.Errorf("file %d is described as %+v, want %s with %d bytes", i, f, want[i], len(body))
		}
	}
}
