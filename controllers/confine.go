package controllers

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/controllers/render"
)

// confineRun creates the NetworkPolicy that isolates the pods of a run. Without rules there is no policy.
func confineRun(ctx context.Context, c client.Writer, run *v1alpha1.BenchmarkRun, rules *networkingv1.NetworkPolicySpec) error {
	if rules == nil {
		return nil
	}
	policy := render.NetworkPolicy(run, *rules)
	if err := c.Create(ctx, policy); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating NetworkPolicy %s: %w", policy.Name, err)
	}
	return nil
}

func releaseRun(ctx context.Context, c client.Writer, run *v1alpha1.BenchmarkRun, rules *networkingv1.NetworkPolicySpec) error {
	if rules == nil {
		return nil // Where no policies are made, the operator may not remove any.
	}
	remove := func() error {
		return c.DeleteAllOf(ctx, &networkingv1.NetworkPolicy{}, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)})
	}
	if err := reconciler.Insist(remove); err != nil {
		return fmt.Errorf("deleting NetworkPolicy: %w", err)
	}
	return nil
}
