package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// noAnswer is the code of a request that got none.
const noAnswer = "none"

// Store counts what the object store answers.
type Store struct {
	now      func() time.Time
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// NewStore makes the counters, and registers them.
func NewStore(r prometheus.Registerer, now func() time.Time) (*Store, error) {
	s := &Store{
		now: now,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "loadstone_store_requests_total",
			Help: "Requests of the operator to the object store, by method and code of the answer; none: there was no answer. Each retry counts.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "loadstone_store_request_duration_seconds",
			Help:    "Time from a request of the operator to the object store until the headers of its answer, by method.",
			Buckets: []float64{.005, .02, .1, .5, 2, 10, 60},
		}, []string{"method"}),
	}
	for _, c := range []prometheus.Collector{s.requests, s.seconds} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Count makes a way to the store that counts what passes on another.
func (s *Store) Count(way http.RoundTripper) http.RoundTripper { return counted{s, way} }

// counted is a way whose requests are counted.
type counted struct {
	store *Store
	way   http.RoundTripper
}

// RoundTrip passes a request on, and counts the answer.
func (c counted) RoundTrip(q *http.Request) (*http.Response, error) {
	begin, code := c.store.now(), noAnswer
	answer, err := c.way.RoundTrip(q)
	if err == nil {
		code = strconv.Itoa(answer.StatusCode)
	} else if q.Context().Err() != nil {
		return answer, err // Who asked has gone away: that says nothing of the store.
	}
	c.store.requests.WithLabelValues(q.Method, code).Inc()
	c.store.seconds.WithLabelValues(q.Method).Observe(c.store.now().Sub(begin).Seconds())
	return answer, err
}
