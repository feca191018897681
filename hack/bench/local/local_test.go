package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
)

// A test starts this test binary as a child, which then is what this variable says.
const role = "LOADSTONE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "server":
		serve()
	case "server that ends at once":
		fmt.Fprintln(os.Stderr, "there is no such flag")
		os.Exit(2)
	case "parent":
		parent()
	case "sleeper":
		time.Sleep(time.Minute)
	case "writer":
		fmt.Println("out", os.Getenv("TMPDIR"))
		fmt.Fprintln(os.Stderr, "complaint")
		os.Exit(1)
	}
}

// serve answers until SIGTERM.
func serve() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s := http.Server{Addr: "127.0.0.1:" + os.Args[1], ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, "helloworld")
	})}
	go func() { <-ctx.Done(); _ = s.Close() }()
	_ = s.ListenAndServe()
}

// parent has a child of its own, which it does not end.
func parent() {
	c := exec.CommandContext(context.Background(), os.Args[0])
	c.Env = append(os.Environ(), role+"=sleeper")
	if err := c.Start(); err != nil {
		os.Exit(1)
	}
	time.Sleep(time.Minute)
}

// as makes children play a role.
func as(t *testing.T, name string) string {
	t.Helper()
	t.Setenv(role, name)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	testbed.Programs(t, programs...)
	if runtime.NumCPU() < 2 {
		t.Skip("there is one CPU only")
	}
}

func server(t *testing.T) *Server {
	t.Helper()
	needs(t, "taskset")
	self := as(t, "server")
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s, err := StartServer(t.Context(), t.TempDir(), port, []string{self, fmt.Sprint(port)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func TestAServerRunsOnItsCPUUntilItIsStopped(t *testing.T) {
	s := server(t)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	if err != nil || !strings.Contains(string(status), "Cpus_allowed_list:\t"+ServerCPU+"\n") {
		t.Errorf("it is not on CPU %s alone, %v: %s", ServerCPU, err, status)
	}
	s.Stop()
	s.Stop()
	if c, err := net.Dial("tcp", s.Target()); err == nil {
		_ = c.Close()
		t.Error("it still listens")
	}
}

func TestAServerThatEndsAtOnceIsNotWaitedFor(t *testing.T) {
	needs(t, "taskset")
	begin := time.Now()
	_, err := StartServer(t.Context(), t.TempDir(), 1, []string{as(t, "server that ends at once")})
	if err == nil || !strings.Contains(err.Error(), "there is no such flag") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > Patience/2 {
		t.Errorf("it took %s", took)
	}
}

func TestAChildEndsWithItsOwnChildren(t *testing.T) {
	needs(t, "taskset")
	c, err := Start(t.Context(), t.TempDir(), ToolCPU, []string{as(t, "parent")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	var family []int
	for deadline := time.Now().Add(Patience); len(family) < 2; time.Sleep(10 * time.Millisecond) {
		if family, err = Family(c.Pid()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("it has no child")
		}
	}
	if _, err := CPUTimes(family); err != nil {
		t.Error(err)
	}
	c.End()
	c.End()
	for deadline := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := CPUTimes(family[1:]); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("of %d, a child is left", family)
		}
	}
}

func TestAChildsOutputAndItsComplaint(t *testing.T) {
	needs(t, "taskset")
	dir := t.TempDir()
	c, err := Start(t.Context(), dir, ToolCPU, []string{as(t, "writer")})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Wait(Patience)
	if err == nil || !strings.Contains(err.Error(), "complaint") || string(c.Out()) != "out "+dir+"\n" {
		t.Errorf("got %q and %v", c.Out(), err)
	}
}

func TestAChildThatHangsIsKilled(t *testing.T) {
	needs(t, "taskset")
	c, err := Start(t.Context(), t.TempDir(), ToolCPU, []string{as(t, "sleeper")})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(50 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "had not ended") {
		t.Errorf("got %v", err)
	}
}

func TestRealToolsAreMeasured(t *testing.T) {
	needs(t, "taskset", "wrk", "ab")
	s := server(t)
	dir := t.TempDir()
	before, err := CPUTime(s.Pid())
	if err != nil {
		t.Fatal(err)
	}
	flood, err := Ab{Connections: 4, Requests: 500}.Run(t.Context(), dir, s.Target())
	if err != nil || flood.Requests != 500 {
		t.Errorf("ab made %d requests, %v", flood.Requests, err)
	}
	after, err := CPUTime(s.Pid())
	if err != nil || after <= before {
		t.Errorf("the server used %s, %v", after-before, err)
	}
	if err := (Wrk{Connections: 4, Seconds: 1}).Warm(t.Context(), dir, s.Target(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	c, err := Wrk{Connections: 4, Seconds: 1}.Start(t.Context(), dir, s.Target(), tool.Measure)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Measured(c, Patience); err != nil || m.Connections != 4 || m.Requests < 10 {
		t.Errorf("wrk measured %+v, %v", m, err)
	}
	wrong, err := Wrk{Connections: 4, Seconds: 1, Path: "/none"}.Start(t.Context(), dir, s.Target(), tool.Measure)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Measured(wrong, Patience); !errors.Is(err, ErrSpoiled) {
		t.Errorf("a load of answers 404 is %v", err)
	}
}

func TestServersAreLoadedInTurns(t *testing.T) {
	needs(t, "taskset", "wrk")
	both := []*Server{server(t), server(t)}
	turns := Turns{Warmup: 50 * time.Millisecond, Slices: 4, Slice: 50 * time.Millisecond, Random: rand.New(rand.NewPCG(1, 2))}
	// An interrupt that any but wrk's first thread gets ends it much later: that was seen once in twenty times.
	for range 5 {
		begin := time.Now()
		loaded, err := turns.Load(t.Context(), t.TempDir(), both, Wrk{Connections: 20})
		if errors.Is(err, ErrSpoiled) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > Patience/3 {
			t.Errorf("it took %s", took)
		}
		for i, l := range loaded {
			// wrk ends up to a tenth of a second after its last turn.
			if l.Requests == 0 || l.CPU <= 0 || l.Wall < 100*time.Millisecond || l.Wall > time.Second {
				t.Errorf("server %d: %d requests, %s CPU time, %s under load", i, l.Requests, l.CPU, l.Wall)
			}
		}
	}
	both[1].Stop()
	_, err := turns.Load(t.Context(), t.TempDir(), both, Wrk{Connections: 20})
	if of := (&SideError{}); !errors.As(err, &of) || of.Side != 1 {
		t.Errorf("a server has ended, and it is %v", err)
	}
}
