package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const noAnswer = "none"

// Store counts the object store's answers.
type Store struct {
	now      func() time.Time
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// NewStore makes and registers the counters.
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

// Count wraps a transport with counters.
func (s *Store) Count(way http.RoundTripper) http.RoundTripper { return counted{s, way} }

type counted struct {
	store *Store
	way   http.RoundTripper
}

// RoundTrip counts the answer to a request.
func (c counted) RoundTrip(q *http.Request) (*http.Response, error) {
	begin, code := c.store.now(), noAnswer
	answer, err := c.way.RoundTrip(q)
	if err == nil {
		code = strconv.Itoa(answer.StatusCode)
	} else if q.Context().Err() != nil {
		return answer, err // A canceled request says nothing about the store.
	}
	c.store.requests.WithLabelValues(q.Method, code).Inc()
	c.store.seconds.WithLabelValues(q.Method).Observe(c.store.now().Sub(begin).Seconds())
	return answer, err
}

// Fields of the Secret with the store's key, and the operator's values.
const (
	accessField  = "access-key"
	secretField  = "secret-key"
	accessName   = "loadstone"
	secretLength = 40
)

// storeKey reads the store's key from the chart's Secret if the environment has none. The Secret is empty at first, so that rendering the
// chart generates no key; the first start generates one. The chart's MinIO waits for it.
func storeKey(ctx context.Context, c client.Client, o *options) error {
	if o.storeSecret == "" || o.store.AccessKey != "" && o.store.SecretKey != "" {
		return nil
	}
	name := client.ObjectKey{Namespace: o.namespace, Name: o.storeSecret}
	var s corev1.Secret
	if err := c.Get(ctx, name, &s); err != nil {
		return fmt.Errorf("reading Secret %s, which the chart installs: %w", name, err)
	}
	if len(s.Data[accessField]) == 0 || len(s.Data[secretField]) == 0 {
		before := s.DeepCopy()
		s.Data = map[string][]byte{accessField: []byte(accessName), secretField: []byte((rand.Text() + rand.Text())[:secretLength])}
		// If two operators start at once, the second fails here, restarts, and reads the first one's key.
		if err := c.Patch(ctx, &s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("writing Secret %s: %w", name, err)
		}
	}
	o.store.AccessKey, o.store.SecretKey = string(s.Data[accessField]), string(s.Data[secretField])
	return nil
}
