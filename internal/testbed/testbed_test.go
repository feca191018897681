package testbed

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestWhereTheProgramsAre(t *testing.T) {
	for name, tc := range map[string]struct{ assets, cache, home, want string }{
		"where the environment says":    {assets: "/opt/assets", cache: "/var/cache", home: "/home/a", want: "/opt/assets"},
		"in the project's own cache":    {cache: "/var/cache", home: "/home/a", want: "/var/cache/bin"},
		"in the cache of who tests":     {home: "/home/a", want: "/home/a/.cache/loadstone/bin"},
		"nowhere, if nobody has a home": {want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", tc.assets)
			t.Setenv("LOADSTONE_CACHE", tc.cache)
			t.Setenv("HOME", tc.home)
			if got := Assets(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

const wanted = "TESTBED_WANTED"

// TestAsks is the child process of the test below.
func TestAsks(t *testing.T) {
	ask, program, ok := strings.Cut(os.Getenv(wanted), " ")
	if !ok {
		return
	}
	map[string]func(*testing.T, ...string){"Programs": Programs, "need": need}[ask](t, program)
	t.Log("it goes on")
}

func TestAMissingProgramIsMissedLoudlyInCI(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const goesOn, skips, fails = "it goes on", "--- SKIP: TestAsks", "--- FAIL: TestAsks"
	for name, tc := range map[string]struct {
		program, ci string
		short       bool
		want        string
	}{
		"a program that is there":              {program: "here", want: goesOn},
		"a program that is there, in CI":       {program: "here", ci: "true", want: goesOn},
		"a program that is missing":            {program: "missing", want: skips},
		"a program that is missing in CI":      {program: "missing", ci: "true", want: fails},
		"a short test, which needs none":       {program: "here", short: true, want: skips},
		"a short test in CI, which needs none": {program: "missing", ci: "true", short: true, want: skips},
	} {
		for _, ask := range []string{"Programs", "need"} {
			t.Run(name+": "+ask, func(t *testing.T) {
				args := []string{"-test.run=^TestAsks$", "-test.v"}
				if tc.short {
					args = append(args, "-test.short")
				}
				c := exec.CommandContext(t.Context(), os.Args[0], args...)
				c.Env = []string{wanted + "=" + ask + " " + tc.program, "PATH=" + dir, "KUBEBUILDER_ASSETS=" + dir, "CI=" + tc.ci}
				out, err := c.CombinedOutput()
				if !strings.Contains(string(out), tc.want) || (err != nil) != (tc.want == fails) {
					t.Errorf("got %v and %q, want %q", err, out, tc.want)
				}
			})
		}
	}
}

const atEnd = "TESTBED_AT_END"

// TestIsEnded is the child process of the test below.
func TestIsEnded(t *testing.T) {
	file := os.Getenv(atEnd)
	if file == "" {
		return
	}
	onEnd(func() error { return os.WriteFile(file, nil, 0o600) })
	stopWhenEnded()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Minute)
	t.Error("it goes on")
}

// API servers have their own process groups, so ending the tests' group does not end them.
func TestWhoEndsTheTestsEndsTheirServers(t *testing.T) {
	stopped := filepath.Join(t.TempDir(), "stopped")
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestIsEnded$")
	c.Env = []string{atEnd + "=" + stopped}
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("it ends with %v: %s", err, out)
	}
	if _, err := os.Stat(stopped); err != nil {
		t.Errorf("its server is left: %v", err)
	}
}

func TestNobodyListensOnAFreeAddress(t *testing.T) {
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("somebody listens: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	port, is := strings.CutPrefix(address, "127.0.0.1:")
	if !is {
		t.Errorf("%s is not on the loopback interface", address)
	}
	// Another process would ask for it in vain.
	runtime.GC()
	if l, err := net.Listen("unix", "@loadstone-testbed-"+port); err == nil {
		t.Errorf("%s is not reserved: %v", address, l.Close())
	}
}

func TestAServerIsAwaited(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("the disk is full"), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	for name, tc := range map[string]struct {
		busy   int32
		exited <-chan struct{}
		want   string
	}{
		"that is ready":              {0, nil, ""},
		"that is ready after a time": {2, nil, ""},
		"that has ended":             {1 << 30, ended, "it ended at once: the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) <= tc.busy {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			defer s.Close()
			err := ready(s.URL, tc.exited, log)
			if (err == nil) != (tc.want == "") || err != nil && err.Error() != tc.want {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			// If a stalled machine answers too late, it is asked once more.
			if tc.want == "" && asked.Load() < tc.busy+1 {
				t.Errorf("it was asked %d times, want %d", asked.Load(), tc.busy+1)
			}
		})
	}
}

func TestTheEndOfAProgramIsSeen(t *testing.T) {
	exited, err := run(exec.Command(os.Args[0], "-test.run=^$"))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-time.After(Patience):
		t.Error("nobody has seen its end")
	}
	if _, err := run(exec.Command(filepath.Join(t.TempDir(), "missing"))); err == nil {
		t.Error("a program that is not there was started")
	}
}
