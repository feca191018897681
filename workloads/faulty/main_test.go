package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const patience = 2 * time.Minute

type running struct {
	address string
	handler *handler
	stop    func() (counts, error)
}

func start(t *testing.T, args ...string) running {
	t.Helper()
	_, f, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	type outcome struct {
		counts
		error
	}
	ended := make(chan outcome, 1)
	h := newHandler(f)
	go func() {
		counted, err := serve(ctx, listener, h)
		ended <- outcome{counted, err}
	}()
	return running{listener.Addr().String(), h, func() (counts, error) {
		cancel()
		o := <-ended
		return o.counts, o.error
	}}
}

func (r running) await(t *testing.T, requests uint64) {
	t.Helper()
	for deadline := time.Now().Add(patience); r.handler.counts().Requests < requests; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests have come, want %d", r.handler.counts().Requests, requests)
		}
	}
}

type client struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, address string) client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return client{c, bufio.NewReader(c)}
}

// ask sends a request and summarizes the result: status and body, "close" if the server closes the connection, or "nothing" after wait.
func (c client) ask(t *testing.T, wait time.Duration) string {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(c.r, nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "nothing"
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := strconv.Itoa(response.StatusCode) + " " + string(body)
	if response.ContentLength != int64(len(body)) {
		t.Errorf("Content-Length %d of a body of %d bytes", response.ContentLength, len(body))
	}
	if !response.Close {
		return answer
	}
	if _, err := c.r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection does not end after its last answer: %v", err)
	}
	return answer + " close"
}

func TestFaultsOfAnswers(t *testing.T) {
	const good, hang = "200 helloworld", "nothing"
	for name, tc := range map[string]struct {
		args []string
		want []string
		// wantCounts omits connections and requests, which are equal here.
		wantCounts counts
	}{
		"no fault":           {nil, []string{good, good, good}, counts{}},
		"errors":             {[]string{"--error-every=2"}, []string{good, "500 planted", good, "500 planted"}, counts{Errors: 2}},
		"wrong bodies":       {[]string{"--wrong-body-every=3"}, []string{good, good, "200 ielloworld"}, counts{WrongBodies: 1}},
		"wrong lengths":      {[]string{"--wrong-length-every=2"}, []string{good, "200 helloworld!", good}, counts{WrongLengths: 1}},
		"closed connections": {[]string{"--close-every=2"}, []string{good, good + " close", good}, counts{Closed: 1}},
		"hanging requests":   {[]string{"--hang-every=2"}, []string{good, hang, good}, counts{Hung: 1}},
		"another answer":     {[]string{"--answer=x"}, []string{"200 x"}, counts{}},
		"an empty answer":    {[]string{"--answer="}, []string{"200 "}, counts{}},
		"two that meet": {
			[]string{"--error-every=2", "--wrong-body-every=4", "--close-every=4", "--answer=a"},
			[]string{"200 a", "500 planted", "200 a", "500 planted close"},
			counts{Errors: 2, Closed: 1},
		},
		"two that do not": {
			[]string{"--wrong-length-every=3", "--wrong-body-every=2", "--answer=a"},
			[]string{"200 a", "200 `", "200 a!"},
			counts{WrongBodies: 1, WrongLengths: 1},
		},
		"costs and leaks, which no answer shows": {
			[]string{"--spin=1000", "--leak=100", "--slow-by=1us"}, []string{good, good}, counts{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := start(t, tc.args...)
			var got []string
			for _, want := range tc.want {
				wait := patience
				if want == hang {
					wait = 100 * time.Millisecond
				}
				// Faults count over connections, and each request has its own. A hanging one arrives before the next.
				got = append(got, dial(t, server.address).ask(t, wait))
				server.await(t, uint64(len(got)))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			counted, err := server.stop()
			if err != nil {
				t.Error(err)
			}
			tc.wantCounts.Connections, tc.wantCounts.Requests = uint64(len(tc.want)), uint64(len(tc.want))
			if diff := cmp.Diff(tc.wantCounts, counted); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServeOnlyAnswersOnAFewConnectionsAtATime(t *testing.T) {
	server := start(t, "--serve-only=2")
	dial(t, server.address) // Sends nothing, and takes no place.
	a, b, c := dial(t, server.address), dial(t, server.address), dial(t, server.address)
	const brief = 100 * time.Millisecond
	got := []string{a.ask(t, patience), b.ask(t, patience), c.ask(t, brief), b.ask(t, patience)}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	got = append(got, c.ask(t, brief))
	// The server notices late that a has gone. Each early connection is another ignored one.
	answer := "nothing"
	for deadline := time.Now().Add(patience); answer == "nothing" && time.Now().Before(deadline); {
		answer = dial(t, server.address).ask(t, brief)
	}
	got = append(got, answer)
	const good = "200 helloworld"
	if diff := cmp.Diff([]string{good, good, "nothing", good, "nothing", good}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	counted, err := server.stop()
	if err != nil {
		t.Error(err)
	}
	// A late answer to an impatient client also counts.
	if counted.Ignored < 1 || counted.Requests < 4 {
		t.Errorf("%d connections ignored and %d requests, want some and 4", counted.Ignored, counted.Requests)
	}
}

func TestBodiesGoWrongLater(t *testing.T) {
	c := dial(t, start(t, "--wrong-body-after=1ms").address)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if got := c.ask(t, patience); got == "200 ielloworld" {
			return
		}
	}
	t.Fatal("no body goes wrong")
}

func TestAFullQueueKeepsConnectionsWaiting(t *testing.T) {
	server := start(t, "--backlog=1", "--accept-pause=20s")
	// One is accepted, two wait, and later ones find no place.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		c, err := net.DialTimeout("tcp", server.address, 200*time.Millisecond)
		if errors.Is(err, os.ErrDeadlineExceeded) || err != nil && strings.Contains(err.Error(), "timeout") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("every connection finds a place")
}

func TestSlownessBeginsLater(t *testing.T) {
	h := newHandler(faults{SlowAfter: time.Millisecond, SlowBy: time.Second})
	if got := h.slowed(); got != 0 {
		t.Errorf("slower by %d ns before the first request", got)
	}
	h.begin()
	for deadline := time.Now().Add(patience); h.slowed() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never becomes slower")
		}
	}
	if got := h.slowed(); got != 1_000_000_000 {
		t.Errorf("slower by %d ns, want a second", got)
	}
}

// An answer takes at least its planted work on a CPU ten times faster than the reference.
func TestPlantedCostsAreInTheAnswer(t *testing.T) {
	const planted, least = "50", 5 * time.Millisecond
	for name, args := range map[string][]string{
		"in each from the first on": {"--spin=" + planted + "000000"},
		"in each from later on":     {"--slow-by=" + planted + "ms"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, start(t, args...).address)
			for deadline := time.Now().Add(patience); ; {
				begin := time.Now()
				c.ask(t, patience)
				if time.Since(begin) >= least {
					return
				}
				if time.Now().After(deadline) {
					t.Fatal("answers come without the planted work")
				}
			}
		})
	}
}

func TestALeakIsKept(t *testing.T) {
	h := newHandler(faults{Leak: 3 * page, Answer: "a"})
	for range 5 {
		h.leak()
	}
	if len(h.kept) != 5 || len(h.kept[4]) != 3*page || h.kept[4][2*page] != 1 {
		t.Errorf("%d pieces of memory are kept", len(h.kept))
	}
}

func TestExitAfterResetsConnections(t *testing.T) {
	server := start(t, "--exit-after=10ms")
	c := dial(t, server.address)
	if got := c.ask(t, patience); got != "200 helloworld" {
		t.Errorf("the first answer is %q", got)
	}
	if _, err := c.r.ReadByte(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection does not end: %v", err)
	}
	if _, err := server.stop(); !errors.Is(err, errExit) {
		t.Errorf("the server ended with %v, want %v", err, errExit)
	}
}

func TestAQueryAsksForAFaultOfItsOwn(t *testing.T) {
	r := start(t)
	get := func(query string) (int, string) {
		response, err := http.Get("http://" + r.address + "/" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	tests := map[string]struct {
		query  string
		status []int
	}{
		"no query, no fault":             {"", []int{200, 200, 200}},
		"each second answer is an error": {"?error-every=2", []int{200, 500, 200}},
		"two faults at once":             {"?error-every=3&spin=10", []int{200, 200, 500}},
		"a flag that is none":            {"?explode=1", []int{400, 400, 400}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for k, want := range tc.status {
				if status, body := get(tc.query); status != want {
					t.Errorf("answer %d has status %d (%s), want %d", k+1, status, body, want)
				}
			}
		})
	}
}

func TestAServerRemembersNoMoreQueriesThanItMay(t *testing.T) {
	_, f, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(f)
	ask := func(spin int) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?spin="+strconv.Itoa(spin), http.NoBody))
		return w.Code
	}
	for n := range demandsMax {
		if got := ask(n); got != http.StatusOK {
			t.Fatalf("query %d has status %d", n+1, got)
		}
	}
	if got := ask(demandsMax); got != http.StatusServiceUnavailable {
		t.Errorf("one query too many has status %d", got)
	}
	if got := ask(0); got != http.StatusOK {
		t.Errorf("a query that is remembered has status %d", got)
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a flag that there is not":     {[]string{"--fault"}, "not defined"},
		"an argument":                  {[]string{"fault"}, `"fault" is none`},
		"no byte to make wrong":        {[]string{"--answer=", "--wrong-body-every=1"}, "-answer that is not empty"},
		"no byte to make wrong later":  {[]string{"--answer=", "--wrong-body-after=1s"}, "-answer that is not empty"},
		"a share where a number is":    {[]string{"--error-every=0.1"}, "invalid value"},
		"a number where a duration is": {[]string{"--slow-after=5"}, "parse error"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := parse(tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestSpinDependsOnEveryIteration(t *testing.T) {
	seen := map[uint64]bool{}
	for n := range uint64(1000) {
		x := spin(n * nanosPerIteration)
		if x == 0 || seen[x] {
			t.Fatalf("spin of %d iterations is %d, which is 0 or was there before: the loop could be left out", n, x)
		}
		seen[x] = true
	}
}

func BenchmarkSpin(b *testing.B) {
	const nanos = 2000
	for b.Loop() {
		if spin(nanos) == 0 {
			b.Fatal("the loop was left out")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nanos, "ns/planted-ns")
}
