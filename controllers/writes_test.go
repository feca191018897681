package controllers

import (
	"net/http"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// maxWrites bounds what an operator writes for a trial of four cells, Events and a share of what a run takes included. What is refused, since a pass
// was built upon something old, does not count; what a busy machine adds is allowed for: 15 is what a quiet one takes.
const maxWrites = 18

func TestATrialCostsTheAPIServerFewWrites(t *testing.T) {
	t.Parallel()
	const trials = 5
	var n atomic.Int64
	w := newWorld(t, func(w *world) {
		w.between = func(to http.RoundTripper) http.RoundTripper {
			return way(func(q *http.Request) (*http.Response, error) {
				p, err := to.RoundTrip(q)
				if err == nil && writes(q) && p.StatusCode < http.StatusMultipleChoices {
					n.Add(1)
				}
				return p, err
			})
		}
	})
	run := w.awaitEnd(w.apply("thrifty", func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks, s.Loads[0].Levels = trials, []v1alpha1.Level{{Connections: 1}, {Connections: 2}, {Connections: 3}, {Connections: 4}}
	}))
	written := n.Load()
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	// A machine that is busy may cost a trial an attempt.
	var attempts int64
	for _, trial := range w.trials(run) {
		attempts += int64(trial.Status.Attempt)
	}
	t.Logf("%d writes for %d attempts", written, attempts)
	if written > maxWrites*attempts {
		t.Errorf("%d attempts cost %d writes, want at most %d each", attempts, written, maxWrites)
	}
}
