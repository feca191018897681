package workloads_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/workloads/conformance"
)

const (
	// asked is the number of requests to a planted server.
	asked = 100
	// remembered is the number of blocks that planted-leak frees at the end, as its twin does.
	remembered = 16
)

// planted builds the servers with planted faults and returns their folder.
func planted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"cc", "valgrind", "strace"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("not all programs are there: %v", err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", "planted", "OUT="+dir).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return dir
}

// profiled runs a server under a tool, sends requests, ends it, and parses the file "out". The tool may end after the server.
func profiled[T any](t *testing.T, dir, variant string, parse func(io.Reader) (T, error), tool ...string) T {
	t.Helper()
	out := filepath.Join(dir, "out")
	server := start(t, tool[0], append(tool[1:], filepath.Join(dir, "planted-"+variant))...)
	conformance.Ask(t, server.address, asked)
	server.stop(t)
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		result, err := parse(bytes.NewReader(text))
		if err == nil {
			return result
		}
		if time.Now().After(deadline) {
			t.Fatalf("planted-%s: %v\n%s", variant, err, server.log)
		}
	}
}

func checked(t *testing.T, dir, variant string) memcheck.Result {
	t.Helper()
	return profiled(t, dir, variant, memcheck.Parse, "valgrind", "--tool=memcheck", "--leak-check=full", "--show-leak-kinds=all",
		"--track-origins=yes", "--xml=yes", "--xml-file="+filepath.Join(dir, "out"))
}

// at returns a function, its file and its line's text.
func at(t *testing.T, f memcheck.Frame) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("planted", filepath.Base(f.File)))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s: %s", f.Function, strings.TrimSpace(strings.Split(string(source), "\n")[f.Line-1]))
}

func TestPlantedFaultsAreFoundWhereTheyAre(t *testing.T) {
	dir := planted(t)
	for _, variant := range []string{"clean", "slow", "syscall"} {
		t.Run("memcheck finds nothing in "+variant, func(t *testing.T) {
			if r := checked(t, dir, variant); len(r.Errors)+len(r.Leaks) > 0 {
				t.Errorf("errors %+v, leaks %+v", r.Errors, r.Leaks)
			}
		})
	}
	t.Run("memcheck finds the leak", func(t *testing.T) {
		r := checked(t, dir, "leak")
		if len(r.Errors) != 0 || len(r.Leaks) != 1 || r.Leaks[0].Blocks != asked-remembered {
			t.Fatalf("errors %+v, leaks %+v", r.Errors, r.Leaks)
		}
		if got, want := at(t, memcheck.Site(r.Leaks[0].Stack)), "on_request: char *body = malloc(BODY_BYTES);"; got != want {
			t.Errorf("got a leak in %q, want %q", got, want)
		}
	})
	t.Run("memcheck finds the byte that nobody has written", func(t *testing.T) {
		r := checked(t, dir, "uninit")
		if len(r.Leaks) != 0 || len(r.Errors) != 1 || r.Errors[0].Count != asked || r.Errors[0].Origin == nil {
			t.Fatalf("errors %+v, leaks %+v", r.Errors, r.Leaks)
		}
		if got, want := at(t, memcheck.Site(r.Errors[0].Stack)), "decide: if (scratch[0] > 10)"; got != want {
			t.Errorf("got an error in %q, want %q", got, want)
		}
		if got, want := at(t, memcheck.Site(r.Errors[0].Origin.Stack)), "decide: char *scratch = malloc(SCRATCH_BYTES);"; got != want {
			t.Errorf("got the origin %q, want %q", got, want)
		}
	})
	t.Run("callgrind finds the slow function", func(t *testing.T) {
		cost := map[string]int64{}
		for _, variant := range []string{"clean", "slow"} {
			p := profiled(t, dir, variant, callgrind.Parse, "valgrind", "--tool=callgrind", "--callgrind-out-file="+filepath.Join(dir, "out"))
			top := p.TopSelf(0, 1)[0]
			if top.Name != "checksum" || top.File != "/src/workloads/planted/planted.c" {
				t.Errorf("%s: got %q in %q, want checksum in planted.c", variant, top.Name, top.File)
			}
			cost[variant] = top.Self.At(0)
		}
		if cost["slow"] < 100*cost["clean"] {
			t.Errorf("got the instructions %v, want a hundred times as many", cost)
		}
	})
	t.Run("strace finds the system call", func(t *testing.T) {
		for variant, want := range map[string]int64{"clean": 0, "syscall": asked} {
			// With -D, the server is the process that the test has started.
			r := profiled(t, dir, variant, profiler.ParseSystemCalls, "strace", "-D", "-f", "-c", "-o", filepath.Join(dir, "out"))
			var got int64
			for _, c := range r.Calls {
				if c.Name == "getppid" {
					got += c.Count
				}
			}
			if got != want {
				t.Errorf("%s: got %d calls, want %d", variant, got, want)
			}
		}
	})
}

func TestNobodySeesWhatThePlantedArenaAllocates(t *testing.T) {
	dir := planted(t)
	heap := profiled(t, dir, "arena", memcheck.ParseHeap, "valgrind", "--tool=memcheck", "--xtree-memory=full",
		"--xtree-memory-file="+filepath.Join(dir, "out"))
	if heap.Seen() {
		t.Errorf("got %+v, want an allocator that is not seen", heap)
	}
}
