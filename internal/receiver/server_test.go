package receiver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
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
