package controllers

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// analyse makes the interim analysis after a block, on interval widths only. The next block waits for it.
func (r *BenchmarkRunReconciler) analyse(ctx context.Context, s *runScope, block int32) (reconciler.Step, error) {
	run := runFacts(s)
	width, err := strconv.ParseFloat(run.Interim.MaxWidth, 64)
	if err != nil {
		return reconciler.Halt, fmt.Errorf("reading spec.stop.maxWidth: %w", err)
	}
	manifest := run.InterimManifest(s.record(r.Version), block)
	found, err := r.analysis(ctx, s, publish.Task{Act: publish.ActInterim, Prefix: s.prefix(), Manifest: &manifest, MaxWidth: width})
	if step, err := s.uncounted(err); step.Stop || err != nil {
		return step, err
	}
	switch {
	case err == nil:
	case artifact.Unreadable(err) || errors.Is(err, publish.ErrReport):
		// The measurements are still useful, and another version may be able to report them.
		ctrl.LoggerFrom(ctx).Error(err, "Interim analysis failed", "block", block)
	default:
		if s.end = run.NotAnalysed(err, s.forGood(err)); s.end != nil {
			return r.conclude(ctx, s)
		}
		return s.awaitStore(err)
	}
	r.tries.Done(s.run.UID)
	made := run.Interim.Made(block, found.Narrow)
	s.interim = &made
	return reconciler.Halt, nil
}

// scan finds disturbed cells while their blocks can still be repeated. Unreadable cells are left to the report.
func (r *BenchmarkRunReconciler) scan(ctx context.Context, s *runScope) (reconciler.Step, error) {
	run := runFacts(s)
	manifest := run.Manifest(s.record(r.Version))
	found, err := r.analysis(ctx, s, publish.Task{Act: publish.ActScan, Prefix: s.prefix(), Manifest: &manifest})
	if step, err := s.uncounted(err); step.Stop || err != nil {
		return step, err
	}
	switch {
	case errors.Is(err, publish.ErrReport):
		ctrl.LoggerFrom(ctx).Error(err, "Scan for disturbed blocks failed")
	case err != nil && run.ScanWaits(s.forGood(err)):
		return s.awaitStore(err)
	}
	made := run.Scanned(found.Disturbed)
	s.scan = &made
	if runFacts(s).Next().Act == conduct.ActReport {
		return r.report(ctx, s) // The report writes the result of the scan to the status. This process is counted for both.
	}
	r.tries.Done(s.run.UID)
	return reconciler.Halt, nil
}

// analysis does a task that reads the whole run. It counts the process first, because the process may run out of memory. A run that waits for
// its turn is not counted: the operator may end for other reasons.
func (r *BenchmarkRunReconciler) analysis(ctx context.Context, s *runScope, t publish.Task) (publish.Result, error) {
	if r.Analyses != nil && r.Analyses.Waits(s.run.UID) {
		return publish.Result{}, ErrWaiting
	}
	if err := r.tries.Begin(ctx, r.Client, r.Store, s.run, s.prefix()); err != nil {
		return publish.Result{}, err
	}
	do := func() (publish.Result, error) { return publish.Do(context.WithoutCancel(ctx), r.Store, t) }
	if r.Analyses != nil {
		do = func() (publish.Result, error) { return r.Analyses.Do(s.run, t) }
	}
	found, err := do()
	switch {
	case err == nil, errors.Is(err, ErrAnalyzing), errors.Is(err, publish.ErrReport):
	case errors.Is(err, ErrDied):
		r.tries.Done(s.run.UID) // The next process is counted, too.
	default:
		err = errors.Join(err, r.tries.Survived(ctx, r.Client, s.run))
	}
	return found, err
}

// uncounted ends a run over which too many processes died, and waits for a running analysis. It returns errors of the API server, because the
// count is in the status.
func (s *runScope) uncounted(err error) (reconciler.Step, error) {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return reconciler.Halt, err
	}
	if errors.Is(err, ErrTooMany) {
		s.unreported(runFacts(s).NotReported(err, true))
		return reconciler.Halt, nil
	}
	return s.analyzing(err), nil
}

// analyzing waits for a running analysis, or before the next one if its process died; GoOn for other errors. A wait for the store continues until
// the analysis has read it.
func (s *runScope) analyzing(err error) reconciler.Step {
	switch c := meta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionReconciling); {
	case errors.Is(err, ErrDied):
		s.why, s.waiting = v1alpha1.ReasonOperatorFailed, err.Error()
		return reconciler.Again(retryReport)
	case errors.Is(err, ErrWaiting):
		return reconciler.Again(retryTurn)
	case !errors.Is(err, ErrAnalyzing):
		return reconciler.GoOn
	case c != nil && s.run.Status.WaitingSince != nil:
		s.why, s.waiting = c.Reason, c.Message
	}
	return reconciler.Halt
}

func (s *runScope) forGood(err error) bool {
	return artifact.Terminal(err) && (!artifact.Mendable(err) || facts.Impatient(s.run, s.absence, v1alpha1.ReasonStoreRefused, s.now))
}

func (s *runScope) awaitStore(err error) (reconciler.Step, error) {
	s.waitForStore(err)
	return reconciler.Again(retryStore), nil
}

// waitForStore sets the reason of the wait. Refusals have their own patience, separate from outages.
func (s *runScope) waitForStore(err error) {
	s.why, s.waiting = v1alpha1.ReasonStoreUnavailable, err.Error()
	if artifact.Mendable(err) {
		s.why = v1alpha1.ReasonStoreRefused
	}
}
