package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestAnswersOfTheStoreAreCountedAndAlsoThoseThatNeverCame(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	registry := prometheus.NewRegistry()
	store, err := NewStore(registry, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	way := store.Count(http.DefaultTransport)
	ask := func(method string) error {
		q, err := http.NewRequestWithContext(context.Background(), method, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := way.RoundTrip(q)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	for _, code = range []int{http.StatusOK, http.StatusOK, http.StatusForbidden} {
		if err := ask(http.MethodPut); err != nil {
			t.Fatal(err)
		}
	}
	server.Close()
	if ask(http.MethodGet) == nil {
		t.Fatal("a server that is gone has answered")
	}
	want := `
# HELP loadstone_store_requests_total Requests of the operator to the object store, by method and code of the answer; none: there was no answer. Each retry counts.
# TYPE loadstone_store_requests_total counter
loadstone_store_requests_total{code="200",method="PUT"} 2
loadstone_store_requests_total{code="403",method="PUT"} 1
loadstone_store_requests_total{code="none",method="GET"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "loadstone_store_requests_total"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(registry, "loadstone_store_request_duration_seconds"); err != nil || n != 2 {
		t.Errorf("%d methods have durations (%v), want 2", n, err)
	}
}
