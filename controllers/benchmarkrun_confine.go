package controllers

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/pass"
	"loadstone.dev/loadstone/internal/render"
)

// confine keeps the pods of a run to themselves, before there are any.
func (r *BenchmarkRunReconciler) confine(ctx context.Context, s *runScope) (pass.Step, error) {
	if r.Network == nil || len(s.trials) > 0 {
		return pass.GoOn, nil
	}
	policy := render.NetworkPolicy(s.run, *r.Network)
	if err := r.Create(ctx, policy); err != nil && !apierrors.IsAlreadyExists(err) {
		return pass.Halt, fmt.Errorf("creating NetworkPolicy %s: %w", policy.Name, err)
	}
	return pass.GoOn, nil
}

// release removes the NetworkPolicy of a run that has no pods any more.
func (r *BenchmarkRunReconciler) release(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	if r.Network == nil {
		return nil
	}
	if err := r.DeleteAllOf(ctx, &networkingv1.NetworkPolicy{}, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}); err != nil {
		return fmt.Errorf("deleting NetworkPolicy: %w", err)
	}
	return nil
}
