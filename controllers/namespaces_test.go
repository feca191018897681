package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// The operator only has Roles in its namespaces. A request for the other run would be forbidden, and fail the test.
func TestNamespacedOperatorReadsOnlyItsNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.values = []string{"runs.namespaces={" + w.namespace + "}"} })
	elsewhere := w.namespace + "-elsewhere"
	w.must(w.c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere}}))
	other := w.drafted("other")
	other.Namespace = elsewhere
	w.must(w.c.Create(t.Context(), other)) // It is the older one, and would be the first in the queue.

	run := w.awaitEnd(w.apply("own", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"})))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	if len(other.Finalizers) > 0 || len(other.Status.Conditions) > 0 {
		t.Errorf("the run of another namespace has the finalizers %q and the status %+v", other.Finalizers, other.Status)
	}
	w.must(w.c.Delete(t.Context(), other))
}
