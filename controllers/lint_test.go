package controllers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
)

// lintEvery holds every status that the operator writes against what all statuses promise. What a trial has reached once
// its load has begun is moreover never taken back.
func (w *world) lintEvery(ctx context.Context, seen watch.Interface) {
	defer seen.Stop()
	reached := map[string]int{}
	for event := range seen.ResultChan() {
		if ctx.Err() != nil {
			return
		}
		o, ok := event.Object.(client.Object)
		if !ok || event.Type == watch.Error {
			w.t.Errorf("watching statuses: %+v", event.Object)
			return
		}
		for _, finding := range lintStatus(o) {
			w.t.Errorf("a status of %s is not as promised: %s\n%s", o.GetName(), finding, tell(o.GetName(), o))
		}
		trial, ok := o.(*v1alpha1.Trial)
		if !ok || trial.Status.StartTime == nil {
			continue
		}
		n, attempt := 0, fmt.Sprintf("%s attempt %d", trial.UID, trial.Status.Attempt)
		for _, c := range trial.Status.Conditions {
			if c.Status == metav1.ConditionTrue {
				n++
			}
		}
		if n < reached[attempt] {
			w.t.Errorf("%s has reached less than before:\n%s", trial.Name, tell(trial.Name, trial.Status))
		}
		reached[attempt] = n
	}
}

func lintStatus(o client.Object) []string {
	switch o := o.(type) {
	case *v1alpha1.BenchmarkRun:
		if len(o.Status.Conditions) == 0 {
			return nil
		}
		return lintRun(o)
	case *v1alpha1.Trial:
		if len(o.Status.Conditions) == 0 {
			return nil
		}
		return lintTrial(o)
	}
	return nil
}

type findings []string

func (f *findings) unless(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

var (
	reason   = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	progress = regexp.MustCompile(`^[0-9]+/[0-9]+$`)
)

// conditions checks that exactly these are there, sorted, each with a reason, and a sentence if something went wrong.
func (f *findings) conditions(list []metav1.Condition, generation int64, want ...string) {
	var have []string
	for _, c := range list {
		have = append(have, c.Type)
		f.unless(reason.MatchString(c.Reason), "%s has reason %q", c.Type, c.Reason)
		f.unless(c.ObservedGeneration > 0 && c.ObservedGeneration <= generation, "%s speaks of generation %d of %d", c.Type, c.ObservedGeneration, generation)
		f.unless(c.Status != metav1.ConditionFalse || c.Message != "" || c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled, "%s is False without a message", c.Type)
		for _, secret := range []string{"X-Amz-", "testbed-secret-key"} {
			f.unless(!strings.Contains(c.Message, secret), "%s holds a secret: %s", c.Type, c.Message)
		}
	}
	slices.Sort(want)
	f.unless(slices.Equal(have, want), "conditions differ (-want +got):\n%s", cmp.Diff(want, have))
}

func lintRun(r *v1alpha1.BenchmarkRun) []string {
	var f findings
	st := r.Status
	f.conditions(st.Conditions, r.Generation, v1alpha1.ConditionPlanned, v1alpha1.ConditionExecuted, v1alpha1.ConditionReported,
		v1alpha1.ConditionConclusive, v1alpha1.ConditionSucceeded, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled)
	is := func(kind string) metav1.ConditionStatus {
		if c := meta.FindStatusCondition(st.Conditions, kind); c != nil {
			return c.Status
		}
		return ""
	}
	f.unless(st.ObservedGeneration != nil && *st.ObservedGeneration > 0 && *st.ObservedGeneration <= r.Generation, "observedGeneration is %v of %d", st.ObservedGeneration, r.Generation)
	summary := is(v1alpha1.ConditionSucceeded)
	f.unless((is(v1alpha1.ConditionReconciling) == "True") == (summary == "Unknown"), "Succeeded is %s and Reconciling %s", summary, is(v1alpha1.ConditionReconciling))
	f.unless((is(v1alpha1.ConditionStalled) == "True") == (summary == "False"), "Succeeded is %s and Stalled %s", summary, is(v1alpha1.ConditionStalled))
	f.unless((st.CompletionTime != nil) == (summary != "Unknown"), "Succeeded is %s and completionTime %v", summary, st.CompletionTime)
	f.unless((st.Report.URI != "") == (is(v1alpha1.ConditionReported) == "True"), "Reported is %s and the report %q", is(v1alpha1.ConditionReported), st.Report.URI)
	f.unless(st.CompletionTime == nil || st.TimeLeft == "", "%s are left of a run that has ended", st.TimeLeft)
	f.unless(st.Progress == "" || progress.MatchString(st.Progress), "progress is %q", st.Progress)
	if summary == "True" {
		for _, kind := range []string{v1alpha1.ConditionPlanned, v1alpha1.ConditionExecuted, v1alpha1.ConditionReported} {
			f.unless(is(kind) == "True", "Succeeded is True and %s %s", kind, is(kind))
		}
		f.unless(st.Verdict != "", "a run that has succeeded has no verdict")
	}
	return f
}

func lintTrial(t *v1alpha1.Trial) []string {
	var f findings
	st := t.Status
	order := []string{v1alpha1.ConditionPrepared, v1alpha1.ConditionMeasured, v1alpha1.ConditionStored, v1alpha1.ConditionSucceeded}
	f.conditions(st.Conditions, t.Generation, slices.Clone(order)...)
	before := metav1.ConditionTrue
	for _, kind := range order {
		c := meta.FindStatusCondition(st.Conditions, kind)
		if c == nil {
			continue
		}
		f.unless(before == "True" || c.Status == before, "%s is %s after a step that is %s", kind, c.Status, before)
		before = c.Status
	}
	f.unless(st.ObservedGeneration != nil && *st.ObservedGeneration <= t.Generation, "observedGeneration is %v", st.ObservedGeneration)
	f.unless((st.CompletionTime != nil) == (before != "Unknown"), "Succeeded is %s and completionTime %v", before, st.CompletionTime)
	f.unless((st.ManifestKey != "") == (before == "True") && (st.ManifestSHA256 != "") == (before == "True"), "Succeeded is %s and the manifest %q", before, st.ManifestKey)
	f.unless(len(st.Failures) < int(st.Attempt), "%d faults before attempt %d", len(st.Failures), st.Attempt)
	f.unless(progress.MatchString(st.Progress), "progress is %q", st.Progress)
	return f
}

func TestStatusLinterFindsViolations(t *testing.T) {
	c := reconciler.NewConditions(nil, 1, time.Time{})
	for _, kind := range []string{v1alpha1.ConditionPlanned, v1alpha1.ConditionExecuted, v1alpha1.ConditionReported, v1alpha1.ConditionConclusive} {
		c.Set(kind, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
	}
	c.Set(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTimedOut, "")
	c.Set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonTimedOut, "https://x?X-Amz-Signature=1")
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	run.Status.Conditions = c.Sorted()
	got := strings.Join(lintStatus(run), "\n")
	for _, want := range []string{
		"Succeeded is False without a message", "holds a secret", "conditions differ", "observedGeneration is <nil>",
		"Succeeded is False and Reconciling True", "Succeeded is False and Stalled ", "completionTime",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among the findings:\n%s", want, got)
		}
	}
}
