package webhooks

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Whoever has no key can ask, and trickle a body. Others are told to come again, and are not held in memory until then.
func TestWhoFindsNoPlaceToWaitIsToldToAskAgain(t *testing.T) {
	s := &Server{Now: time.Now}
	h := s.Handler()
	for range atOnce + waiting {
		s.places <- struct{}{}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/namespaces/a/benchmarksuites/b/trigger", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d with %v", w.Code, w.Header())
	}
	<-s.places
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/namespaces/a/benchmarksuites/b/trigger", nil))
	if w.Code != http.StatusUnauthorized || len(s.places) != atOnce+waiting-1 || len(s.turns) != 0 {
		t.Errorf("with a place it got %d; %d places and %d turns are taken", w.Code, len(s.places), len(s.turns))
	}
}

// The deadline of a body is the connection's: it is no matter of the clock by which signatures are judged.
func TestABodyIsReadWhateverTheClockOfSignaturesSays(t *testing.T) {
	s := &Server{Now: func() time.Time { return time.Unix(0, 0) }}
	s.Handler()
	const size = 1 << 16
	server := httptest.NewServer(s.answering(func(_ context.Context, w http.ResponseWriter, q *http.Request, _ client.ObjectKey) *answer {
		body, a := read(w, q)
		if a == nil && len(body) == size {
			a = &answer{status: http.StatusOK}
		}
		return a
	}))
	defer server.Close()
	got, err := http.Post(server.URL, "text/plain", strings.NewReader(strings.Repeat("x", size)))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		t.Errorf("it is answered %s", got.Status)
	}
}

func TestWhoAsksTooOftenIsToldWhenToAskAgain(t *testing.T) {
	asks, now, name := newLimits(askBurst, askEvery), time.Now(), client.ObjectKey{Namespace: "a", Name: "b"}
	for i := range askBurst {
		if a := asks.refuse(name, now); a != nil {
			t.Fatalf("the ask with the number %d is answered %d %q", i, a.status, a.says)
		}
	}
	if a := asks.refuse(name, now); a == nil || a.status != http.StatusTooManyRequests || a.after != askEvery {
		t.Errorf("one more is answered %+v", a)
	}
	if a := asks.refuse(client.ObjectKey{Namespace: "a", Name: "c"}, now); a != nil {
		t.Errorf("of another suite one is answered %+v", a)
	}
	if a := asks.refuse(name, now.Add(askEvery)); a != nil {
		t.Errorf("a second later it is answered %+v", a)
	}
}
