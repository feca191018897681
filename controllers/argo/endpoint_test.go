package argo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
)

func TestAStepWithABodyIsRefusedUnread(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	e := &Endpoint{Client: fake.NewClientBuilder().WithScheme(scheme).Build(), changed: make(chan struct{})}
	for name, tc := range map[string]struct {
		body io.Reader
		want int
	}{
		"none":                      {nil, http.StatusNotFound},
		"an empty one, as Argo has": {strings.NewReader(""), http.StatusNotFound},
		"a short one":               {strings.NewReader("{}"), http.StatusRequestEntityTooLarge},
		"one of unknown length":     {io.LimitReader(endless{}, 1<<40), http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			e.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/trials/bench/none", tc.body))
			if closes := answer.Header().Get("Connection") == "close"; answer.Code != tc.want || closes != (tc.want == http.StatusRequestEntityTooLarge) {
				t.Errorf("answered %d, want %d; the connection is closed: %v", answer.Code, tc.want, closes)
			}
		})
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// standby is an endpoint of an operator that does not lead, and the lease that it watches.
type standby struct {
	*Endpoint
	holder atomic.Value
	lock   resourcelock.Interface
}

func newStandby(t *testing.T, port string) *standby {
	t.Helper()
	s := &standby{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holderIdentity": %q}}`, s.holder.Load())
	}))
	t.Cleanup(api.Close)
	fence := leader.NewFence(time.Minute, time.Now)
	var err error
	if s.lock, err = fence.Lock(&rest.Config{Host: api.URL}, "system", "loadstone", "me", time.Minute); err != nil {
		t.Fatal(err)
	}
	s.Endpoint = &Endpoint{Addr: ":" + port, Fence: fence}
	return s
}

func (s *standby) sees(t *testing.T, holder string) {
	t.Helper()
	s.holder.Store(holder)
	if _, _, err := s.lock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAStandbyPassesStepsToTheLeader(t *testing.T) {
	var got []string
	leads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		got = append(got, q.Method+" "+q.URL.Path+" "+q.Header.Get("Authorization"))
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(leads.Close)
	_, port, err := net.SplitHostPort(leads.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		holder, port, passed string
		want                 int
	}{
		"to the one that the lease names":     {leader.Identity("other", "127.0.0.1"), port, "", http.StatusForbidden},
		"once":                                {leader.Identity("other", "127.0.0.1"), port, "1", http.StatusServiceUnavailable},
		"not while nobody leads":              {"", port, "", http.StatusServiceUnavailable},
		"not to one whose address is unknown": {leader.Identity("other", ""), port, "", http.StatusServiceUnavailable},
		"not to one that does not answer":     {leader.Identity("other", "127.0.0.1"), "1", "", http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			got = nil
			s := newStandby(t, tc.port)
			s.sees(t, tc.holder)
			q := httptest.NewRequest(http.MethodPost, "/v1/trials/bench/one", nil)
			q.Header.Set("Authorization", "Bearer t")
			if tc.passed != "" {
				q.Header.Set(passedHeader, tc.passed)
			}
			answer := httptest.NewRecorder()
			s.handler().ServeHTTP(answer, q)
			passed := len(got) == 1 && got[0] == "POST /v1/trials/bench/one Bearer t"
			if answer.Code != tc.want || passed != (tc.want == http.StatusForbidden) {
				t.Errorf("answered %d, want %d; the leader got %q", answer.Code, tc.want, got)
			}
		})
	}
}

func TestAStepIsCutOffWhenAnotherOperatorLeads(t *testing.T) {
	asked := make(chan struct{})
	leads := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		close(asked)
		<-q.Context().Done()
	}))
	t.Cleanup(leads.Close)
	_, port, err := net.SplitHostPort(leads.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := newStandby(t, port)
	s.sees(t, leader.Identity("other", "127.0.0.1"))
	answered := make(chan int)
	go func() {
		answer := httptest.NewRecorder()
		s.handler().ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/trials/bench/one", nil))
		answered <- answer.Code
	}()
	<-asked
	s.sees(t, leader.Identity("third", "127.0.0.1"))
	if code := <-answered; code != http.StatusServiceUnavailable {
		t.Errorf("answered %d, want %d", code, http.StatusServiceUnavailable)
	}
}
