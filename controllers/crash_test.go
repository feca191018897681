package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// crashDeadline is far beyond what a run with an operator that ends at each write takes.
const crashDeadline = 8 * time.Minute

// TestAnOperatorMayEndAtAnyWrite leads a whole run, its deletion, and that of a run that measures, with operators of which each ends at another
// write: what is measured, and what is left, is as if one had done it all.
func TestAnOperatorMayEndAtAnyWrite(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"instead of it": false, "before it learns that it was done": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) { w.reaper = newReaper(after) })
			run := w.apply("mortal", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}))
			w.outlive("the run's end", func() bool {
				w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
				return run.Status.CompletionTime != nil
			})
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			startedOnce(t, w, run)
			inTheirTurn(t, w, run)
			artifactsOf(t, w, run)
			w.must(w.c.Delete(t.Context(), run))
			w.outlive("nothing to be left", func() bool { return w.left(t.Context()) == "" })
			// Another is deleted while it measures, and has pods.
			cut := w.apply("cut", func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 })
			w.outlive("the other run's load", func() bool {
				return slices.ContainsFunc(w.trials(cut), func(t v1alpha1.Trial) bool { return w.measuring(&t) })
			})
			w.must(w.c.Delete(t.Context(), cut))
			w.outlive("nothing to be left of the other", func() bool { return w.left(t.Context()) == "" })
			everyKindOfWrite(t, w.reaper.ended())
		})
	}
}

// outlive starts another operator whenever one has ended, until something has come about.
func (w *world) outlive(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(crashDeadline); !done(); {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s; operators ended at %s; there is %s:\n%s", what, strings.Join(w.reaper.ended(), ", "), w.left(w.t.Context()), w.dump())
		}
		select {
		case <-w.reaper.died():
			w.stop()
			w.startManager()
		case <-time.After(lookEvery):
		}
	}
}

// startedOnce checks that each trial has succeeded and that one attempt at it alone was told to start.
func startedOnce(t *testing.T, w *world, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	started := w.agents.started()
	for _, trial := range w.trials(run) {
		condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
		mine := slices.DeleteFunc(slices.Clone(started), func(s string) bool { return !strings.HasPrefix(s, trial.Name+" ") })
		if len(mine) != 2 {
			t.Errorf("of %s were told to start: %q", trial.Name, mine)
		}
	}
}

// everyKindOfWrite checks that operators have ended at all that a run writes, but for the deletion of all its pods: their trials may be faster.
func everyKindOfWrite(t *testing.T, ends []string) {
	t.Helper()
	for _, kind := range []string{
		"patch *v1alpha1.BenchmarkRun", "status *v1alpha1.BenchmarkRun", "store plan.json", "create *v1alpha1.Trial", "patch *v1.Secret",
		"create *v1.NetworkPolicy", "create *unstructured.Unstructured", "create *v1.Pod", "patch *v1alpha1.Trial", "status *v1alpha1.Trial", "store manifest.json",
		"delete *v1.Pod", "delete all *v1alpha1.Trial", "delete all *v1.NetworkPolicy",
	} {
		if !slices.Contains(ends, kind) {
			t.Errorf("no operator has ended at: %s", kind)
		}
	}
}
