package controllers

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// TestOperatorSurvivesCrashAtAnyWrite leads a run with a script and a repeated block, and deletes runs. Each operator
// crashes at another write. The results must equal those without crashes.
func TestOperatorSurvivesCrashAtAnyWrite(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"instead of it": false, "before it learns that it was done": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.scripts(map[string]string{"a.lua": "-- a script"})
			asked := func(s *v1alpha1.BenchmarkRunSpec) { s.Seed = 7 }
			w.agents.disturb("alive-000-")
			alive := w.awaitEnd(w.apply("alive", asked, scripted("mine", "a.lua")))
			kept := w.recorded(alive)
			w.must(w.c.Delete(t.Context(), alive))
			w.within("nothing to be left of the run before", func() bool { return w.left(t.Context()) == "" })
			w.stop()
			w.reaper = newReaper(after)
			w.startManager()
			w.agents.disturb("mortal-000-")
			run := w.apply("mortal", asked, scripted("mine", "a.lua"))
			w.outlive("the run's end", func() bool {
				w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
				return run.Status.CompletionTime != nil
			})
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			startedOnce(t, w, run)
			inTheirTurn(t, w, run)
			artifactsOf(t, w, run)
			asBefore(t, w, alive, run)
			if diff := cmp.Diff([]int32{1}, run.Status.Repeats.DisturbedBlocks); diff != "" || len(w.trials(run)) != 2 {
				t.Errorf("%d trials, disturbed blocks (-want +got):\n%s", len(w.trials(run)), diff)
			}
			w.must(w.c.Delete(t.Context(), run))
			w.outlive("nothing to be left", func() bool { return w.left(t.Context()) == "" })
			// Another is deleted while it measures, and has pods.
			cut := w.apply("cut", func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 })
			w.outlive("the other run's load", func() bool {
				return slices.ContainsFunc(w.trials(cut), func(t v1alpha1.Trial) bool { return w.begun(&t) })
			})
			w.must(w.c.Delete(t.Context(), cut))
			w.outlive("nothing to be left of the other", func() bool { return w.left(t.Context()) == "" })
			everyKindOfWrite(t, w.reaper.ended())
			artifactsOf(t, w, alive)
			if diff := cmp.Diff(kept, w.recorded(alive)); diff != "" {
				t.Errorf("the record of the run before has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// recorded is the record of a run as an object of the store: it has the digests of all others.
func (w *world) recorded(run *v1alpha1.BenchmarkRun) record.Artifact {
	w.t.Helper()
	store, err := artifact.Open(w.store)
	w.must(err)
	found, err := store.Find(w.t.Context(), artifact.ManifestKey(artifact.RunPrefix("", facts.Run(run))))
	w.must(err)
	return found
}

// asBefore checks that a run stored the same trials as an earlier run of the same spec, each by the only started attempt, and no other attempt.
func asBefore(t *testing.T, w *world, before, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	store, err := artifact.Open(w.store)
	w.must(err)
	var lists [2][]record.PlannedTrial
	var now record.RunData
	for i, r := range []*v1alpha1.BenchmarkRun{before, run} {
		now, err = store.Load(t.Context(), artifact.RunPrefix("", facts.Run(r)), "")
		w.must(err)
		for _, trial := range now.Trials {
			p := trial.Manifest.PlannedTrial
			p.Name = strings.TrimPrefix(p.Name, r.Name)
			lists[i] = append(lists[i], p)
		}
	}
	if diff := cmp.Diff(lists[0], lists[1]); diff != "" {
		t.Errorf("the trials that are stored (-one operator +many):\n%s", diff)
	}
	started := w.agents.started()
	for _, trial := range now.Trials {
		for attempt := int32(1); attempt <= plan.Attempts; attempt++ {
			list, err := store.List(t.Context(), artifact.TrialPrefix(artifact.RunPrefix("", facts.Run(run)), trial.Manifest.Name, attempt))
			w.must(err)
			list = slices.DeleteFunc(list, func(o artifact.Object) bool { return path.Base(o.Key) == path.Base(artifact.BegunKey("")) })
			told := slices.Contains(started, fmt.Sprintf("%s attempt %d %s", trial.Manifest.Name, attempt, record.MemberServer(0)))
			if stored := len(list) > 0; stored != told || stored != (attempt == trial.Manifest.Attempt) {
				t.Errorf("attempt %d at %s, whose record is of attempt %d: told to start %v, stored %v", attempt, trial.Manifest.Name, trial.Manifest.Attempt, told, list)
			}
		}
	}
}

// outlive starts another operator whenever one has ended, until something has come about. Each operator has the whole deadline.
func (w *world) outlive(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(testbed.Patience); !done(); {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s; operators ended at %s; there is %s:\n%s", what, strings.Join(w.reaper.ended(), ", "), w.left(w.t.Context()), w.dump())
		}
		select {
		case <-w.reaper.died():
			w.stop()
			w.startManager()
			deadline = time.Now().Add(testbed.Patience)
		case <-time.After(lookEvery):
		}
	}
}

// startedOnce checks that each trial succeeded with one started attempt.
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

// everyKindOfWrite checks that operators have ended at all that a run writes.
func everyKindOfWrite(t *testing.T, ends []string) {
	t.Helper()
	for _, kind := range []string{
		"patch *v1alpha1.BenchmarkRun", "status *v1alpha1.BenchmarkRun", "store plan.json", "store sweep", "create *v1alpha1.Trial", "patch *v1.Secret",
		"create *v1.NetworkPolicy", "create *unstructured.Unstructured", "create *v1.Pod", "patch *v1alpha1.Trial", "status *v1alpha1.Trial", "store manifest.json",
		"delete all *v1.Pod", "delete all *v1alpha1.Trial", "delete all *v1.NetworkPolicy",
	} {
		if !slices.Contains(ends, kind) {
			t.Errorf("no operator has ended at: %s", kind)
		}
	}
}
