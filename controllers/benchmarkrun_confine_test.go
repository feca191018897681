package controllers

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
)

func TestNetworkPolicyIsCreatedBeforePods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("confined")
	trial := w.awaitFirst("confined")
	var policy networkingv1.NetworkPolicy
	w.must(w.c.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: render.PolicyName(run)}, &policy))
	if policy.CreationTimestamp.After(trial.CreationTimestamp.Time) {
		t.Errorf("the policy is of %s, the first trial of %s", policy.CreationTimestamp, trial.CreationTimestamp)
	}
	if got := policy.Spec.PodSelector.MatchLabels[v1alpha1.LabelRunUID]; got != trial.Labels[v1alpha1.LabelRunUID] {
		t.Errorf("the policy is for the pods of %q, and the trial's are of %q", got, trial.Labels[v1alpha1.LabelRunUID])
	}
	w.awaitEnd(run)
}
