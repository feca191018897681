package controllers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/testbed"
)

// TestFlakyStoreLosesNothing leads runs with a faulty proxy before the store, for operator and agents. The fault begins while the first trial
// measures. If it prevents storing, it ends once the trial reports its wait.
func TestFlakyStoreLosesNothing(t *testing.T) {
	t.Parallel()
	up, down := "upstream", "downstream"
	for name, tc := range map[string]struct {
		toxics []testbed.Toxic
		// away is true if nothing is stored until the proxy is well again, and gone if it takes no connections.
		away, gone bool
	}{
		"it is far away": {toxics: []testbed.Toxic{{Type: "latency", Stream: down, Attributes: map[string]int{"latency": 150, "jitter": 100}}}},
		"it is slow, and what comes is in pieces": {toxics: []testbed.Toxic{{Type: "bandwidth", Stream: up, Attributes: map[string]int{"rate": 200}}, {Type: "slicer", Stream: down, Attributes: map[string]int{"average_size": 64, "size_variation": 32, "delay": 50}}}},
		"its connections take long to close":      {toxics: []testbed.Toxic{{Type: "slow_close", Stream: down, Attributes: map[string]int{"delay": 500}}}},
		"it hangs, and then hangs up":             {toxics: []testbed.Toxic{{Type: "timeout", Stream: down, Attributes: map[string]int{"timeout": 200}}}, away: true},
		"it resets what is open":                  {toxics: []testbed.Toxic{{Type: "reset_peer", Stream: down, Attributes: map[string]int{"timeout": 0}}}, away: true},
		"it is cut off in mid-request":            {toxics: []testbed.Toxic{{Type: "limit_data", Stream: up, Attributes: map[string]int{"bytes": 300}}}, away: true},
		"it is cut off in mid-answer":             {toxics: []testbed.Toxic{{Type: "limit_data", Stream: down, Attributes: map[string]int{"bytes": 40}}}, away: true},
		"it is gone":                              {gone: true, away: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var proxy *testbed.Proxy
			w := newWorld(t, func(w *world) {
				proxy = testbed.NewProxy(t, w.store.Endpoint)
				w.store.Endpoint = proxy.Addr
			})
			run := w.apply("far", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), ample)
			first := w.awaitFirst("far")
			for _, toxic := range tc.toxics {
				proxy.Poison(toxic)
			}
			if tc.gone {
				proxy.Down()
			}
			if tc.away {
				w.within("a trial that says what it waits for", func() bool {
					w.hasten(run)
					w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(first), first))
					return waitsForStore(first)
				})
				if first.Status.CompletionTime != nil {
					t.Errorf("the trial has ended: %+v", first.Status)
				}
				proxy.Heal()
			}
			w.within("the run's end", func() bool {
				w.hasten(run)
				w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
				return run.Status.CompletionTime != nil
			})
			proxy.Heal()
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			startedOnce(t, w, run)
			inTheirTurn(t, w, run)
			artifactsOf(t, w, run)
			for _, trial := range w.trials(run) {
				if len(trial.Status.Failures) > 0 {
					t.Errorf("%s was measured in attempt %d: the store's trouble is not its own: %q", trial.Name, trial.Status.Attempt, trial.Status.Failures)
				}
			}
		})
	}
}

// The trial waits ten minutes for a store that refuses, like an unavailable one, and is lost. No other trial begins meanwhile, and its block is
// repeated.
func TestRefusingStoreCostsMeasuringTrial(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of   func(*http.Request) bool
		code int
		says string
	}{
		"it rejects the key": {everything, http.StatusForbidden, "AccessDenied"},
		"it is full":         {uploads, http.StatusInsufficientStorage, "XMinioStorageFull"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refuses *refuser
			w := newWorld(t, func(w *world) {
				refuses = newRefuser(t, w.store.Endpoint, tc.of, tc.code, tc.says)
				w.store.Endpoint = refuses.addr
			})
			run := w.apply("refused", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), ample, func(s *v1alpha1.BenchmarkRunSpec) { s.TimeoutSeconds = 7200 })
			first := w.awaitFirst("refused")
			refuses.lasts.Store(true)
			await(w, first, "a word about its store", func(t *v1alpha1.Trial) bool {
				w.hasten(run)
				return waitsForStore(t)
			})
			w.clock.Forward(conduct.StoreDeadline)
			w.poke(first)
			await(w, first, "its end", func(t *v1alpha1.Trial) bool { return t.Status.CompletionTime != nil })
			condition(t, first.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonUploadFailed, fmt.Sprintf("the object store answered %d", tc.code))
			w.within("the next trial to wait for its store", func() bool {
				return slices.ContainsFunc(w.trials(run), func(t v1alpha1.Trial) bool { return *t.Spec.Index == 1 && waitsForStore(&t) })
			})
			if pods := w.kubelet.pods(); len(pods) != 2 {
				t.Errorf("others were started meanwhile: pods %v", pods)
			}
			refuses.lasts.Store(false)
			run = w.awaitHastened(run)
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			var stored int
			for _, trial := range w.trials(run) {
				if trial.Status.ManifestKey != "" {
					stored++
				}
			}
			if stored != 3 {
				t.Errorf("%d trials are stored, want the other of the block and those of a repeat block", stored)
			}
		})
	}
}

// waitsForStore reports whether a trial says that it waits for its store.
func waitsForStore(t *v1alpha1.Trial) bool {
	for _, c := range t.Status.Conditions {
		if c.Status == metav1.ConditionUnknown && (strings.Contains(c.Message, "not stored yet") || strings.Contains(c.Message, "the object store ")) {
			return true
		}
	}
	return false
}
