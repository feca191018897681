package controllers

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/index"
)

// indexer gives a client of tests the indexes of the operator's cache.
type indexer struct{ to *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, o client.Object, field string, values client.IndexerFunc) error {
	i.to.WithIndex(o, field, values)
	return nil
}

// Whatever puts a run before others, or takes it from before them, has these look again: their place is another.
func TestQueueChangesWakeWaitingRuns(t *testing.T) {
	at := &metav1.Time{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	planned := func(status metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionPlanned, Status: status, Reason: reason}}
	}
	away := v1alpha1.BenchmarkRunStatus{Conditions: planned(metav1.ConditionUnknown, v1alpha1.ReasonNotEnoughCPUs), WaitingSince: at}
	back := v1alpha1.BenchmarkRunStatus{Conditions: planned(metav1.ConditionTrue, v1alpha1.ReasonDone)}
	silent := metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Message: "no answer"}
	waits := v1alpha1.BenchmarkRunStatus{Conditions: append(slices.Clone(back.Conditions), silent), WaitingSince: at}
	for name, tc := range map[string]struct {
		before, after v1alpha1.BenchmarkRunStatus
		wakes         bool
	}{
		"its nodes are back":          {away, back, true},
		"its nodes went away":         {back, away, true},
		"it begins":                   {back, v1alpha1.BenchmarkRunStatus{StartTime: at}, true},
		"it ends":                     {v1alpha1.BenchmarkRunStatus{StartTime: at}, v1alpha1.BenchmarkRunStatus{StartTime: at, CompletionTime: at}, true},
		"it waits for its store":      {back, waits, true},
		"it waits for it no longer":   {waits, back, true},
		"something else of it is new": {back, v1alpha1.BenchmarkRunStatus{Conditions: back.Conditions, Verdict: "?"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(name string, status v1alpha1.BenchmarkRunStatus) *v1alpha1.BenchmarkRun {
				return &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name, UID: types.UID(name), Finalizers: []string{v1alpha1.Finalizer}}, Status: status}
			}
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			before, after := run("first", tc.before), run("first", tc.after)
			b := fake.NewClientBuilder().WithScheme(scheme)
			if err := index.Index(t.Context(), indexer{b}); err != nil {
				t.Fatal(err)
			}
			r := &BenchmarkRunReconciler{Client: b.WithObjects(after, run("behind", back)).Build()}
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			update := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
			if movesQueue(update) {
				handler.EnqueueRequestsFromMapFunc(r.queued).Update(t.Context(), update, q)
			}
			if (q.Len() == 1) != tc.wakes {
				t.Errorf("%d others look again, want %v", q.Len(), tc.wakes)
			}
		})
	}
}
