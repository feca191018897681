package main

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// faults say how the server misbehaves. A fault whose number is 0 is off. Requests are counted over all connections.
type faults struct {
	ErrorEvery, WrongBodyEvery, WrongLengthEvery, CloseEvery, HangEvery uint64
	ServeOnly                                                           int64
	// WrongBodyAfter is from when on every body is wrong.
	WrongBodyAfter, SlowAfter, SlowBy time.Duration
	// Leak is in bytes per request, Spin in nanoseconds per request.
	Leak, Spin uint64
	Answer     string
	ExitAfter  time.Duration
	// Backlog is how many connections may wait to be accepted, the kernel's own number if it is 0, and AcceptPause follows each that is.
	Backlog     int
	AcceptPause time.Duration
}

// counts are what the server itself saw and did, for tests that hold a tool's report against it.
type counts struct {
	// Connections are those accepted, Ignored those of them on which -serve-only answers nothing.
	Connections uint64 `json:"connections"`
	Ignored     uint64 `json:"ignored"`
	// Requests are those that reached a handler.
	Requests     uint64 `json:"requests"`
	Errors       uint64 `json:"errors"`
	WrongBodies  uint64 `json:"wrongBodies"`
	WrongLengths uint64 `json:"wrongLengths"`
	Closed       uint64 `json:"closed"`
	Hung         uint64 `json:"hung"`
}

// handler answers "GET /".
type handler struct {
	*http.ServeMux
	faults
	wrongBody, wrongLength string

	// demands are the handlers of the faults that queries ask for, by query; nil for one of these.
	demands  *sync.Map
	demanded atomic.Int64 // how many they are
	first    sync.Once
	// slow and wrong are set when -slow-after and -wrong-body-after are over, and exit is closed when -exit-after is.
	slow, wrong atomic.Bool
	exit        chan struct{}

	mu   sync.Mutex
	kept [][]byte

	connections, ignored, requests, errors, wrongBodies, wrongLengths, closed, hung atomic.Uint64
}

func newHandler(f faults) *handler {
	h := newAnswers(f)
	h.demands = &sync.Map{}
	return h
}

func newAnswers(f faults) *handler {
	h := &handler{ServeMux: http.NewServeMux(), faults: f, exit: make(chan struct{})}
	h.wrongLength = f.Answer + "!"
	if wrong := []byte(f.Answer); len(wrong) > 0 {
		wrong[0] ^= 1
		h.wrongBody = string(wrong)
	}
	h.HandleFunc("GET /{$}", h.answer)
	return h
}

// connection counts connections as they are accepted.
func (h *handler) connection(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		h.connections.Add(1)
	}
}

func (h *handler) counts() counts {
	return counts{
		Connections: h.connections.Load(), Ignored: h.ignored.Load(), Requests: h.requests.Load(), Errors: h.errors.Load(),
		WrongBodies: h.wrongBodies.Load(), WrongLengths: h.wrongLengths.Load(), Closed: h.closed.Load(), Hung: h.hung.Load(),
	}
}

// answer misbehaves as it shall. Of several faults that would each make the answer, the first of hang, error, wrong length and
// wrong body makes it.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) {
	if h.demands != nil && r.URL.RawQuery != "" {
		h.onDemand(w, r)
		return
	}
	h.first.Do(h.begin)
	n := h.requests.Add(1)
	h.leak()
	if spin(h.Spin+h.slowed()) == 0 {
		// It never is; but the compiler does not know, and so cannot leave the loop out.
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if each(n, h.CloseEvery) {
		h.closed.Add(1)
		w.Header().Set("Connection", "close")
	}
	switch {
	case each(n, h.HangEvery):
		h.hung.Add(1)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case each(n, h.ErrorEvery):
		h.errors.Add(1)
		write(w, http.StatusInternalServerError, "planted")
	case each(n, h.WrongLengthEvery):
		h.wrongLengths.Add(1)
		write(w, http.StatusOK, h.wrongLength)
	case each(n, h.WrongBodyEvery) || h.wrong.Load():
		h.wrongBodies.Add(1)
		write(w, http.StatusOK, h.wrongBody)
	default:
		write(w, http.StatusOK, h.Answer)
	}
}

// demandsMax bounds the queries that a server remembers, since it forgets none.
const demandsMax = 1000

// onDemand misbehaves as the query asks, with flags as its parameters: so each load of a run can plant another fault in one server.
// Each query counts its own requests.
func (h *handler) onDemand(w http.ResponseWriter, r *http.Request) {
	known, ok := h.demands.Load(r.URL.RawQuery)
	if !ok {
		var args []string
		for _, parameter := range strings.Split(r.URL.RawQuery, "&") {
			args = append(args, "--"+parameter)
		}
		_, f, err := parse(args)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if h.demanded.Add(1) > demandsMax {
			http.Error(w, "the server has seen more queries than it remembers", http.StatusServiceUnavailable)
			return
		}
		known, _ = h.demands.LoadOrStore(r.URL.RawQuery, newAnswers(f))
	}
	known.(*handler).answer(w, r)
}

// begin starts what is reckoned from the first request on.
func (h *handler) begin() {
	if h.SlowBy > 0 {
		time.AfterFunc(h.SlowAfter, func() { h.slow.Store(true) })
	}
	if h.WrongBodyAfter > 0 {
		time.AfterFunc(h.WrongBodyAfter, func() { h.wrong.Store(true) })
	}
	if h.ExitAfter > 0 {
		time.AfterFunc(h.ExitAfter, func() { close(h.exit) })
	}
}

// slowed is the CPU time in nanoseconds that -slow-by makes an answer cost by now.
func (h *handler) slowed() uint64 {
	if !h.slow.Load() {
		return 0
	}
	return uint64(h.SlowBy)
}

// page is the size of what the kernel makes resident at once.
const page = 4096

// leak keeps memory, and writes to each page of it, so that it is resident.
func (h *handler) leak() {
	if h.Leak == 0 {
		return
	}
	b := make([]byte, h.Leak)
	for i := 0; i < len(b); i += page {
		b[i] = 1
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, b)
}

func each(n, every uint64) bool { return every > 0 && n%every == 0 }

func write(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// An error here means that the client has gone.
	_, _ = io.WriteString(w, body)
}

// nanosPerIteration is what an iteration of spin costs at 2.6 GHz (BenchmarkSpin).
const nanosPerIteration = 2

// spin runs as many iterations as cost about the given time on a CPU that nobody else uses. The number of iterations depends on
// no clock, so that the cost is the same in each request and each process. An iteration needs the result of the one before
// (xorshift64, which never reaches 0).
func spin(nanos uint64) uint64 {
	x := uint64(88172645463325252)
	for range nanos / nanosPerIteration {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
