package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/hack/bench/local"
	"loadstone.dev/loadstone/internal/testbed"
)

// The programs that a test measures are links to this test binary, which then does what the name of the link says.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "fake-bench":
		fakeBench(os.Args[1:])
	case "fake":
		fakeServer(os.Args[1:])
	default:
		os.Exit(m.Run())
	}
}

func fakeBench(args []string) {
	if len(args) != 4 || args[0] != "cell" || args[2] != "--seconds" || args[3] != "1" {
		fmt.Fprintln(os.Stderr, "the arguments are", args)
		os.Exit(2)
	}
	switch name := args[1]; name {
	case "fast", "slow":
		operations := map[string]int{"fast": 2_000_000, "slow": 1_000_000}
		fmt.Printf(`{"case":%q,"operations":%d,"wallSeconds":1.0,"cpuSeconds":0.5}`+"\n", name, operations[name])
	default:
		fmt.Fprintln(os.Stderr, "what was read is not what was written")
		os.Exit(1)
	}
}

func fakeServer(args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s := http.Server{Addr: ":" + strings.TrimPrefix(args[0], "--port="), ReadHeaderTimeout: time.Second, Handler: hello(nil)}
	go func() { <-ctx.Done(); _ = s.Close() }()
	_ = s.ListenAndServe()
}

// hello answers, and not any more once it is told so.
func hello(mute *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mute != nil && mute.Load() {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "helloworld")
	})
}

// programs is a folder with the programs that there are.
func programs(t *testing.T) string {
	t.Helper()
	testbed.Programs(t, "taskset", "wrk", "ab")
	if runtime.NumCPU() < 2 {
		t.Skip("there is one CPU only")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"fake", "fake-bench"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRealCells(t *testing.T) {
	m := &machine{programs: programs(t), dir: t.TempDir(), random: anyOrder()}
	twice := func(c cell) []cell { return []cell{c, c} }
	tests := map[string]struct {
		cells []cell
		good  func(measured) bool
	}{
		"wrk in turns":     {twice(wrk("fake", 4)), func(r measured) bool { return r.Operations > 0 && r.CPUSeconds > 0 && r.P99Micros == 0 && r.Bytes > 0 }},
		"wrk at a stretch": {twice(tail("fake", 4))[:1], func(r measured) bool { return r.Operations > 0 && r.P99Micros > 0 }},
		"ab in turns":      {twice(ab("fake", 4)), func(r measured) bool { return r.Operations >= perChunk && r.WallSeconds >= seconds && r.CPUSeconds > 0 }},
		"our own client":   {twice(fair("fake", 8))[:1], func(r measured) bool { return r.Operations > 8 && r.Jain > 0.5 && r.Unanswered == 0 }},
		"micro-benchmarks": {twice(single("fake-bench", "fast")), func(r measured) bool { return r.Operations == 2_000_000 }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			// Whoever else uses the machine may make wrk count a timeout.
			var all []measured
			var err error
			for range attempts {
				if all, err = m.perform(t.Context(), tc.cells); !errors.Is(err, local.ErrSpoiled) {
					break
				}
			}
			if err != nil || len(all) != len(tc.cells) {
				t.Fatalf("got %+v, %v", all, err)
			}
			for _, r := range all {
				if !tc.good(r) {
					t.Errorf("got %+v", r)
				}
			}
		})
	}
	_, err := m.perform(t.Context(), []cell{single("fake-bench", "fast"), single("fake-bench", "wrong")})
	if of := (&local.SideError{}); !errors.As(err, &of) || of.Side != 1 || !strings.Contains(err.Error(), "what was read is not what was written") {
		t.Errorf("a check that fails is %v", err)
	}
}

func TestTheWholeProgramFromTheTableToItsLines(t *testing.T) {
	dir := programs(t)
	list := []comparison{
		ratio("fake-fast-to-slow", single("fake-bench", "fast"), single("fake-bench", "slow"), wallNanos, atMost(0.6)),
		value("fake-none", single("none", "case"), wallNanos, "ns", theMean, atMost(1)),
		value("fake-wrong", single("fake-bench", "wrong"), wallNanos, "ns", theMean, atMost(1)),
	}
	out := filepath.Join(t.TempDir(), "raw.jsonl")
	var stdout, stderr strings.Builder
	o := options{out: out, programs: dir, blocks: 3}
	b := &bench{log: &stderr, watch: func() func() (float64, float64) { return func() (float64, float64) { return 0, 0 } }}
	t.Setenv("TMPDIR", t.TempDir())
	if err := b.run(t.Context(), list, o); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"fake-fast-to-slow\t0.5\tratio\t<=0.6\tmet\tn=3, 99 % interval 0.5 to 0.5",
		"fake-none\t-\tns\t<=1\tnot measured\tnone is missing in " + filepath.Base(dir) + ": was it built?",
		"fake-wrong\t-\tns\t<=1\tnot measured\trunning " + filepath.Join(dir, "fake-bench") + ": exit status 1: what was read is not what was written",
		"",
	}, "\n")
	// What it prints is the same whenever it is asked.
	for range 2 {
		stdout.Reset()
		err := run(t.Context(), &stdout, &stderr, list, []string{"-from", out})
		if stdout.String() != want || err == nil || err.Error() != "2 of 3 figures were not measured" {
			t.Errorf("got %v and\n%s\nwant\n%s", err, stdout.String(), want)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it left %v behind, %v", left, err)
	}
}

func TestABusyMachineIsRefused(t *testing.T) {
	b := &bench{log: io.Discard, watch: func() func() (float64, float64) { return func() (float64, float64) { return 0.5, 0 } }}
	out := filepath.Join(t.TempDir(), "raw.jsonl")
	if err := b.run(t.Context(), table, options{out: out, blocks: 2}); err == nil || !strings.Contains(err.Error(), "not quiet: others use 0.50 CPUs") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it has replaced what was measured before")
	}
}

func TestAnswersAreCountedByConnection(t *testing.T) {
	var mute atomic.Bool
	s := httptest.NewServer(hello(&mute))
	defer s.Close()
	counts, err := countAnswers(t.Context(), s.Listener.Addr().String(), 3, 200*time.Millisecond)
	if err != nil || len(counts) != 3 || counts[0] == 0 || counts[1] == 0 || counts[2] == 0 {
		t.Errorf("got %v, %v", counts, err)
	}
	mute.Store(true)
	if counts, err = countAnswers(t.Context(), s.Listener.Addr().String(), 3, 200*time.Millisecond); err != nil || jainIndex(counts) != 0 {
		t.Errorf("of a server that is mute got %v, %v", counts, err)
	}
	wrong := httptest.NewServer(http.NotFoundHandler())
	defer wrong.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err = countAnswers(ctx, wrong.Listener.Addr().String(), 1, time.Minute); err == nil {
		t.Error("an answer that is not ours was counted")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := countAnswers(t.Context(), l.Addr().String(), 1, time.Second); err == nil {
		t.Error("nobody listens, and that was no error")
	}
}
