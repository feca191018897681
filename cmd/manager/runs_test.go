package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// noon is 1,772,366,400 s in Unix time.
var noon = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

type these struct {
	client.Reader
	runs []v1alpha1.BenchmarkRun
	err  error
}

func (r these) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list, ok := into.(*v1alpha1.BenchmarkRunList)
	if !ok {
		return errors.New("only runs are here")
	}
	list.Items = r.runs
	return r.err
}

func leads() bool { return true }

func metricsRun(name string, status metav1.ConditionStatus, reason string, deltas ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
	r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name, CreationTimestamp: noon, Finalizers: []string{v1alpha1.Finalizer}}}
	r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason}}
	for _, d := range deltas {
		d(&r)
	}
	return r
}

func begun(r *v1alpha1.BenchmarkRun)   { r.Status.StartTime = &noon }
func waits(r *v1alpha1.BenchmarkRun)   { r.Status.WaitingSince = &noon }
func over(r *v1alpha1.BenchmarkRun)    { r.Status.StartTime, r.Status.CompletionTime = &noon, &noon }
func deleted(r *v1alpha1.BenchmarkRun) { r.DeletionTimestamp = &noon }

func suspended(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = new(true) }

func measured(r *v1alpha1.BenchmarkRun) {
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionTrue})
}

func TestEachRunIsInOneStateAndTellsSinceWhenItWaits(t *testing.T) {
	runs := []v1alpha1.BenchmarkRun{
		metricsRun("first", metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable, begun, waits),
		metricsRun("second", metav1.ConditionUnknown, v1alpha1.ReasonQueued),
		metricsRun("kept", metav1.ConditionUnknown, v1alpha1.ReasonSuspended, suspended, waits),
		metricsRun("late", metav1.ConditionTrue, "Done", suspended, over),
		metricsRun("reports", metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable, begun, measured, waits),
		metricsRun("good", metav1.ConditionTrue, "Done", over, waits),
		metricsRun("bad", metav1.ConditionFalse, v1alpha1.ReasonTimedOut, over),
		metricsRun("goes", metav1.ConditionUnknown, v1alpha1.ReasonInProgress, begun, waits, deleted),
	}
	want := `
# HELP loadstone_queue_runs BenchmarkRuns that take turns: the one whose turn it is, and those behind it.
# TYPE loadstone_queue_runs gauge
loadstone_queue_runs 2
# HELP loadstone_run_waiting_since_timestamp_seconds Since when a BenchmarkRun waits for something unavailable, refusing or suspended, in Unix time; the reason is that of its condition Succeeded.
# TYPE loadstone_run_waiting_since_timestamp_seconds gauge
loadstone_run_waiting_since_timestamp_seconds{namespace="bench",reason="StoreUnavailable",run="first"} 1.7723664e+09
loadstone_run_waiting_since_timestamp_seconds{namespace="bench",reason="StoreUnavailable",run="reports"} 1.7723664e+09
loadstone_run_waiting_since_timestamp_seconds{namespace="bench",reason="Suspended",run="kept"} 1.7723664e+09
# HELP loadstone_runs BenchmarkRuns in the cluster by state: queued (also those that wait for nodes), suspended (before their turn), measuring, reporting, deleting, succeeded, failed.
# TYPE loadstone_runs gauge
loadstone_runs{state="deleting"} 1
loadstone_runs{state="failed"} 1
loadstone_runs{state="measuring"} 1
loadstone_runs{state="queued"} 1
loadstone_runs{state="reporting"} 1
loadstone_runs{state="succeeded"} 2
loadstone_runs{state="suspended"} 1
`
	if err := testutil.CollectAndCompare(NewRuns(these{runs: runs}, leads), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestAStateWithoutRunsIsAZero(t *testing.T) {
	// The states, and the length of the queue.
	if n := testutil.CollectAndCount(NewRuns(these{}, leads)); n != len(states)+1 {
		t.Errorf("%d metrics of no runs, want %d", n, len(states)+1)
	}
}

func TestOnlyTheLeaderTellsOfRuns(t *testing.T) {
	if n := testutil.CollectAndCount(NewRuns(these{}, func() bool { return false })); n != 0 {
		t.Errorf("an operator that does not lead has %d metrics of runs", n)
	}
}

func TestRunsThatCannotBeReadAreAnErrorAndNoZeros(t *testing.T) {
	err := testutil.CollectAndCompare(NewRuns(these{err: errors.New("the cache is away")}, leads), strings.NewReader(""))
	if err == nil || !strings.Contains(err.Error(), "the cache is away") {
		t.Errorf("the answer's error is %v, want that the cache is away", err)
	}
}
