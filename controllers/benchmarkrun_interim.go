package controllers

import (
	"context"
	"errors"
	"fmt"
	"strconv"

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
	data, unread := r.Store.LoadTrials(ctx, run.InterimManifest(s.record(r.Version), block))
	if unread != nil && !artifact.Unreadable(unread) {
		if s.end = run.NotAnalysed(unread, s.forGood(unread)); s.end != nil {
			return r.conclude(ctx, s)
		}
		return s.awaitStore(unread)
	}
	width, err := strconv.ParseFloat(run.Interim.MaxWidth, 64)
	if err != nil {
		return reconciler.Halt, fmt.Errorf("reading spec.stop.maxWidth: %w", err)
	}
	table, err := publish.Analyse(data)
	if err = errors.Join(unread, err); err != nil {
		// What is measured is worth its time all the same, and a report can be made of it by a version that can: all blocks are.
		ctrl.LoggerFrom(ctx).Error(err, "Interim analysis failed", "block", block)
	}
	made := run.Interim.Made(block, err == nil && table.NarrowerThan(width))
	s.interim = &made
	return reconciler.Halt, nil
}

// scan finds disturbed cells while their blocks can still be repeated. Unreadable cells are left to the report.
func (r *BenchmarkRunReconciler) scan(ctx context.Context, s *runScope) (reconciler.Step, error) {
	run := runFacts(s)
	var disturbed []int32
	data, err := r.Store.LoadTrials(ctx, run.Manifest(s.record(r.Version)))
	switch {
	case err == nil:
		table, err := publish.Analyse(data)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Scan for disturbed blocks failed")
			break
		}
		disturbed = table.DisturbedBlocks()
	case run.ScanWaits(s.forGood(err)):
		return s.awaitStore(err)
	}
	made := run.Scanned(disturbed)
	s.scan = &made
	if runFacts(s).Next().Act == conduct.ActReport {
		return r.report(ctx, s) // What was found needs no write of its own: the report's has it.
	}
	return reconciler.Halt, nil
}

// forGood reports whether a store failure is no longer, or never, waited for.
func (s *runScope) forGood(err error) bool {
	return artifact.Terminal(err) && (!artifact.Mendable(err) || facts.Impatient(s.run, s.absence, v1alpha1.ReasonStoreRefused, s.now))
}

// awaitStore waits for an unavailable store.
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
