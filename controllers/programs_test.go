package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// programs makes a run one of two programs that measure themselves, twice each, with an hour for each process.
func programs(s *v1alpha1.BenchmarkRunSpec) {
	s.Implementations = []v1alpha1.Implementation{
		{Name: "old", Image: "bench:1", Command: []string{"/bench"}}, {Name: "new", Image: "bench:2", Command: []string{"/bench"}},
	}
	s.Baseline, s.Blocks, s.Loads = "old", 2, nil
	s.Microbenchmark = v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest, LimitSeconds: 3600}
}

// The trials end when their programs do: the run would take four hours if it waited for their limits.
func TestProgramRunFromApplyToReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("parsers", programs))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	condition(t, run.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionTrue, v1alpha1.ReasonDone, "4 trials")
	condition(t, run.Status.Conditions, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonTooFewBlocks)
	if run.Status.Progress != "4/4" || w.kubelet.crowd() != 1 {
		t.Errorf("progress is %s, and pods of %d trials were there at the same time", run.Status.Progress, w.kubelet.crowd())
	}
	inTheirTurn(t, w, run)
	var want []string
	for _, trial := range w.trials(run) {
		condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
		want = append(want, trial.Name+" attempt 1 server-0")
	}
	if diff := cmp.Diff(want, w.agents.started()); diff != "" {
		t.Errorf("who was told to start (-want +got):\n%s", diff)
	}
	if pods := w.kubelet.pods(); len(pods) != 4 {
		t.Errorf("a program has a pod of its own and no other: %v", pods)
	}
	storedPrograms(t, w, run)
}

// storedPrograms checks that the store holds what each program has printed, and a report of it.
func storedPrograms(t *testing.T, w *world, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run)), "")
	w.must(err)
	if len(d.Trials) != 4 {
		t.Errorf("%d trials are stored", len(d.Trials))
	}
	for _, trial := range d.Trials {
		m := trial.Manifest
		if m.Type != record.Microbenchmark || m.Programs == nil || m.Programs.Format != record.GoTest || len(m.Artifacts) != 2 || len(m.Pods) != 1 {
			t.Errorf("the manifest of %s is %+v", m.Name, m)
		}
		if len(trial.Rows) != 1 || trial.Rows[0].Case != "parse" {
			t.Errorf("%s has measured %+v", m.Name, trial.Rows)
		}
	}
	key, _ := strings.CutPrefix(run.Status.Report.URI, "s3://"+w.store.Bucket+"/")
	html, err := store.Get(t.Context(), key, run.Status.Report.SHA256)
	if err != nil || !strings.Contains(string(html), `id="cases"`) {
		t.Errorf("the report %s: %v, or it has no section of cases", run.Status.Report.URI, err)
	}
}
