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

// faults are the server's planted faults; 0 turns one off. Requests are counted over all connections.
type faults struct {
	ErrorEvery, WrongBodyEvery, WrongLengthEvery, CloseEvery, HangEvery uint64
	ServeOnly                                                           int64
	// WrongBodyAfter is the time after which every body is wrong.
	WrongBodyAfter, SlowAfter, SlowBy time.Duration
	Leak, Spin                        uint64
	Answer                            string
	ExitAfter                         time.Duration
	// Backlog is the accept queue's length (0: the default); AcceptPause follows each accept.
	Backlog     int
	AcceptPause time.Duration
}

type counts struct {
	// Connections were accepted; -serve-only ignored Ignored of them.
	Connections  uint64 `json:"connections"`
	Ignored      uint64 `json:"ignored"`
	Requests     uint64 `json:"requests"`
	Errors       uint64 `json:"errors"`
	WrongBodies  uint64 `json:"wrongBodies"`
	WrongLengths uint64 `json:"wrongLengths"`
	Closed       uint64 `json:"closed"`
	Hung         uint64 `json:"hung"`
}

type handler struct {
	*http.ServeMux
	faults
	wrongBody, wrongLength string

	// demands are handlers of faults requested by query; nil in such a handler.
	demands  *sync.Map
	demanded atomic.Int64 // how many they are
	first    sync.Once
	// slow and wrong are set after -slow-after and -wrong-body-after; exit is closed after -exit-after.
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

// answer applies the faults. Of several that determine the answer, the order is hang, error, wrong length, wrong body.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) {
	if h.demands != nil && r.URL.RawQuery != "" {
		h.onDemand(w, r)
		return
	}
	h.first.Do(h.begin)
	n := h.requests.Add(1)
	h.leak()
	if spin(h.Spin+h.slowed()) == 0 {
		// It never is, but the compiler cannot know, so it keeps the loop.
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

// demandsMax bounds the remembered queries, which are never forgotten.
const demandsMax = 1000

// onDemand takes faults from the query's parameters, so that each load of a run can plant another one. Each query counts its own requests.
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

// slowed returns the current CPU cost of an answer due to -slow-by, in nanoseconds.
func (h *handler) slowed() uint64 {
	if !h.slow.Load() {
		return 0
	}
	return uint64(h.SlowBy)
}

const page = 4096

// leak keeps memory and touches each page, so that it is resident.
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
	// An error means that the client is gone.
	_, _ = io.WriteString(w, body)
}

// nanosPerIteration is the cost of spin's iteration at 2.6 GHz (BenchmarkSpin).
const nanosPerIteration = 2

// spin takes about the given time on an idle CPU. The number of iterations depends on no clock, so the cost is constant. Iterations form a
// dependency chain (xorshift64, which never reaches 0).
func spin(nanos uint64) uint64 {
	x := uint64(88172645463325252)
	for range nanos / nanosPerIteration {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
