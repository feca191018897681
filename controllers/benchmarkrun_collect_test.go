package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

func (w *world) awaitLeft(what string, wanted func(left string) bool) {
	w.t.Helper()
	w.within(what, func() bool { return wanted(w.left(w.t.Context())) })
}

func TestObjectsOfEndedRunAreDeletedAfterTTL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("week"))
	w.awaitLeft("the end of its token", func(left string) bool { return !strings.Contains(left, "token") })
	if left := w.left(t.Context()); !strings.Contains(left, "week-000-go") || !strings.Contains(left, "NetworkPolicyList "+render.PolicyName(run)) || !strings.Contains(left, "UnstructuredList") {
		t.Errorf("after its end there is only %s", left)
	}
	w.clock.Forward(facts.TTL(run) + time.Second)
	w.poke(run)
	w.awaitLeft("the end of its trials and workflow", func(left string) bool { return left == "*v1alpha1.BenchmarkRunList week" })
	run = await(w, run, "its release", func(r *v1alpha1.BenchmarkRun) bool { return len(r.Finalizers) == 0 })
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if run.Status.Progress != "1/1" {
		t.Errorf("its progress has become %s", run.Status.Progress)
	}
	artifactsOf(t, w, run)
}

func TestRunReportsTTLOfTrials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("once", func(s *v1alpha1.BenchmarkRunSpec) { s.TTLSecondsAfterFinished = new(int32) })
	w.awaitLeft("the end of all but the run", func(left string) bool { return left == "*v1alpha1.BenchmarkRunList once" })
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "once"}}
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionReported, metav1.ConditionTrue, v1alpha1.ReasonDone)
}
