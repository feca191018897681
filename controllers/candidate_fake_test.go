package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Times of the leases of tests. Half of a lease is for renewing it.
const (
	electionLease = 4 * time.Second
	electionRetry = 200 * time.Millisecond
)

// candidate is an operator that stands for election, with real requests to the API server and the store, all of them through its gate.
type candidate struct {
	gate   *gate
	fence  *leader.Fence
	addr   string
	cancel func()
	ended  chan error
}

func newCandidate(w *world, addr string, lease time.Duration, ends *leaderEnds, end func(*candidate)) *candidate {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	fence := leader.NewFence(lease, w.clock.Lease)
	c := &candidate{fence: fence, addr: addr, cancel: cancel, ended: make(chan error, 1)}
	c.gate = &gate{due: func(what string) {
		if fence.Check() == nil && ends.take(c, what) {
			end(c)
		}
	}}
	electing, writing := w.reach(), w.reach()
	electing.Wrap(func(way http.RoundTripper) http.RoundTripper { return c.gate.before(c.gate.after(way)) })
	writing.Wrap(c.guard)
	lock, err := fence.Lock(electing, w.system, "loadstone", string(uuid.NewUUID()), lease/2)
	w.must(err)
	m := w.newManager(writing, func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionResourceLockInterface, o.LeaderElectionReleaseOnCancel = true, lock, true
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = new(lease), new(lease/2), new(electionRetry)
	})
	store, err := artifact.OpenBehind(w.store, c.guard)
	w.must(err)
	w.register(ctx, m, life{client: m.GetClient(), store: store, agents: gatedAgents{w.agents, c}, absence: fence.Absence}, addr)
	go func() { c.ended <- m.Start(ctx) }()
	return c
}

// guard is the way of an operator's requests: it may stop before its fence, as a process does anywhere, and what comes behind it is on the wire.
func (c *candidate) guard(way http.RoundTripper) http.RoundTripper {
	return c.gate.before(c.fence.Guard(c.gate.after(way)))
}

// gatedAgents delay an operator's commands likewise.
type gatedAgents struct {
	agents.Client
	c *candidate
}

func (a gatedAgents) Command(ctx context.Context, ip string, o protocol.Command) (protocol.State, error) {
	what := "command"
	if o.Start != nil {
		what = "start"
	}
	if err := a.c.gate.pass(what); err != nil {
		return protocol.State{}, err
	}
	if err := a.c.fence.Check(); err != nil {
		a.c.gate.refuse()
		return protocol.State{}, err
	}
	a.c.gate.land(what)
	return a.Client.Command(ctx, ip, o)
}

// leaderEnds are the writes that leaders must still end at, each once.
type leaderEnds struct {
	mu     sync.Mutex
	places []string
	by     map[*candidate]bool
}

func newLeaderEnds() *leaderEnds {
	return &leaderEnds{by: map[*candidate]bool{}, places: []string{
		"PUT plan.json", "POST trials", "POST workflows", "POST pods", "begin", "start", "PUT manifest.json of an attempt", "DELETE pods", "PUT manifest.json",
		"PUT report.html",
	}}
}

// take reports whether a leader is to end at a write. A leader ends once. An ending one may still do the next write.
// If the run never repeats that write, no other leader can end there.
func (l *leaderEnds) take(c *candidate, what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range l.places {
		if p == what {
			ends := !l.by[c]
			l.places, l.by[c] = append(l.places[:i:i], l.places[i+1:]...), true
			return ends
		}
	}
	return false
}

func (l *leaderEnds) left() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places
}

// What becomes of a request at a gate: it passes; it fails, and whatever comes after it; it waits, and whatever comes after it, until the gate opens.
const (
	gateOpen = iota
	gateCut
	gateHeld
)

var errCut = errors.New("the operator was killed")

// gate is where an operator's requests leave it.
type gate struct {
	// due sees each write at an open gate, and may close it.
	due func(what string)

	mu    sync.Mutex
	state int
	// opened is closed when a gate that is held opens.
	opened chan struct{}
	// held is true once the gate was closed, awake when it has opened again. The fence has refused the writes in refused since then, but not those in
	// late.
	held, awake bool
	refused     int
	late        []string
}

func (g *gate) set(state int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == gateHeld && state != gateHeld {
		close(g.opened)
		g.awake = true
	}
	if state == gateHeld && g.state != gateHeld {
		g.opened, g.held = make(chan struct{}), true
	}
	g.state = state
}

func (g *gate) wake() {
	g.mu.Lock()
	held := g.state == gateHeld
	g.mu.Unlock()
	if held {
		g.set(gateOpen)
	}
}

// ending reports whether the operator has been killed or has hung.
func (g *gate) ending() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state != gateOpen || g.held
}

func (g *gate) hung() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}

// woken returns what an operator has written after it had hung, and how often the fence has kept it from it.
func (g *gate) woken() (late []string, refused int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.late, g.refused
}

// pass lets a write through; an empty name is a read.
func (g *gate) pass(what string) error {
	if what != "" {
		g.due(what)
	}
	g.mu.Lock()
	state, opened := g.state, g.opened
	g.mu.Unlock()
	switch state {
	case gateCut:
		return errCut
	case gateHeld:
		<-opened // A process that hangs notices no deadline.
	}
	return nil
}

func (g *gate) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.awake {
		g.refused++
	}
}

// land notes a write that goes to the wire.
func (g *gate) land(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.awake {
		g.late = append(g.late, what)
	}
}

type way func(*http.Request) (*http.Response, error)

func (w way) RoundTrip(q *http.Request) (*http.Response, error) { return w(q) }

func (g *gate) before(next http.RoundTripper) http.RoundTripper {
	return way(func(q *http.Request) (*http.Response, error) {
		what, err := named(q)
		if err == nil {
			err = g.pass(what)
		}
		if err != nil {
			if q.Body != nil {
				err = errors.Join(err, q.Body.Close())
			}
			return nil, err
		}
		resp, err := next.RoundTrip(q)
		if errors.Is(err, leader.ErrLost) {
			g.refuse()
		}
		return resp, err
	})
}

func (g *gate) after(next http.RoundTripper) http.RoundTripper {
	return way(func(q *http.Request) (*http.Response, error) {
		// Requests canceled while the process hung are not sent.
		if q.Method != http.MethodGet && q.Method != http.MethodHead && q.Context().Err() == nil {
			g.land(q.Method + " " + q.URL.Path)
		}
		return next.RoundTrip(q)
	})
}

// named names a write, such as "POST pods" or "PUT plan.json", or "begin" for the status that starts a trial; empty for a read.
func named(q *http.Request) (string, error) {
	if q.Method == http.MethodGet || q.Method == http.MethodHead {
		return "", nil
	}
	if !strings.HasPrefix(q.URL.Path, "/api") {
		attempt := ""
		if strings.Contains(q.URL.Path, "/attempt-") {
			attempt = " of an attempt"
		}
		return q.Method + " " + path.Base(q.URL.Path) + attempt, nil
	}
	parts := strings.Split(q.URL.Path, "/namespaces/")
	fields := strings.Split(parts[len(parts)-1], "/")
	if len(fields) < 2 {
		return q.Method + " " + q.URL.Path, nil
	}
	if q.Method == http.MethodPatch && fields[1] == "trials" && q.Body != nil {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return "", fmt.Errorf("reading a request: %w", err)
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(string(body), `"startTime":"`) {
			return "begin", nil
		}
	}
	return q.Method + " " + fields[1], nil
}

// service is where steps of workflows call: it passes them on to the operator that leads.
type service struct {
	mu     sync.Mutex
	leader string
	// moved is closed when another operator leads.
	moved chan struct{}
}

// newService starts a service at an address until the test ends.
func newService(t *testing.T, addr string) *service {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{moved: make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(s.serve)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

// lead passes all calls from now on to an operator. Calls that another was about to answer are cut off.
func (s *service) lead(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader != addr {
		close(s.moved)
		s.leader, s.moved = addr, make(chan struct{})
	}
}

func (s *service) serve(rw http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	leader, moved := s.leader, s.moved
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	go func() {
		select {
		case <-moved:
			cancel()
		case <-ctx.Done():
		}
	}()
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: leader}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(rw, q.WithContext(ctx))
}
