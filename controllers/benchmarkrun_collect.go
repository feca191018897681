package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

// collectEvery is the pause between checks of a cleanup.
const collectEvery = 500 * time.Millisecond

// tokensGo is how long after a run's end its tokens are removed at each pass. A restarted operator passes over all finished runs; a remaining
// token would open nothing and is removed with the rest.
const tokensGo = time.Hour

// stop ends what a finished run still has in the cluster. Trials stop by themselves; an unfinished workflow is deleted.
func (r *BenchmarkRunReconciler) stop(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if !s.ended() {
		return reconciler.GoOn, nil
	}
	if !controllerutil.ContainsFinalizer(s.run, v1alpha1.Finalizer) {
		return reconciler.Halt, nil // Nothing is left of it.
	}
	ended := s.run.Status.CompletionTime.Time
	switch left := ended.Add(argo.Patience).Sub(s.now); {
	case s.workflow == nil:
	case argo.Ended(s.workflow) && s.now.Sub(ended) > tokensGo:
	case argo.Ended(s.workflow):
		if err := r.engine().RemoveTokens(ctx, s.run); err != nil {
			return reconciler.Halt, err
		}
	case s.run.Status.Report.URI != "" && left > 0:
		return reconciler.Again(left), nil // Argo takes the last answer and ends its workflow.
	default:
		// Without workflows there are no tokens.
		if err := r.engine().RemoveTokens(ctx, s.run); err != nil {
			return reconciler.Halt, err
		}
		return reconciler.Halt, r.engine().RemoveAll(ctx, s.run)
	}
	if left := ended.Add(facts.TTL(s.run)).Sub(s.now); left > 0 {
		return reconciler.Again(left), nil
	}
	return r.collect(ctx, s.run)
}

// collect deletes the objects of a run after its TTL, and then the finalizer.
func (r *BenchmarkRunReconciler) collect(ctx context.Context, run *v1alpha1.BenchmarkRun) (reconciler.Step, error) {
	done, err := r.cleanUp(ctx, run)
	switch {
	case err != nil:
		return reconciler.Halt, err
	case !done:
		return reconciler.Again(collectEvery), nil // No event reports a deleted pod.
	}
	return reconciler.Halt, letGo(ctx, r.Client, run)
}

// cleanUp deletes the objects of a run that is being deleted. done is true when there is nothing left to wait for.
func (r *BenchmarkRunReconciler) cleanUp(ctx context.Context, run *v1alpha1.BenchmarkRun) (done bool, err error) {
	if r.Analyses != nil {
		r.Analyses.Drop(run.UID)
	}
	left, stuck, err := clearNodes(ctx, r.Client, r.Live, run, r.Now())
	if err := errors.Join(err, r.engine().RemoveAll(ctx, run)); err != nil || left > 0 {
		return false, err
	}
	if err := errors.Join(r.engine().RemoveTokens(ctx, run), releaseRun(ctx, r.Client, run, r.Network)); err != nil {
		return false, err
	}
	if len(stuck) > 0 {
		r.Recorder.Eventf(run, nil, corev1.EventTypeWarning, v1alpha1.ReasonPodLost, "Release", "%s", util.Clip(fmt.Sprintf(
			"the run is deleted, but pods remain on nodes that are not ready, or for more than ten minutes: check node and finalizers of %s", strings.Join(stuck, ", "),
		), reconciler.MaxMessage))
	}
	return true, nil
}
