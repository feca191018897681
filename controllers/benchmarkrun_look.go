package controllers

import (
	"context"
	"fmt"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/plan"
)

// look asks, after some blocks, whether enough has been measured. It looks at the width of intervals only. The next block waits for it.
func (r *BenchmarkRunReconciler) look(ctx context.Context, s *runScope) (step, error) {
	block := s.lookDue()
	if block == 0 {
		return goOn, nil
	}
	m := s.manifest(r.Version)
	m.Blocks = block
	data, err := r.Store.LoadTrials(ctx, m)
	if err != nil {
		if artifact.Terminal(err) {
			s.end = &failure{v1alpha1.ConditionExecuted, v1alpha1.ReasonStoreUnavailable, err.Error()}
			return halt, nil
		}
		s.why, s.waiting = v1alpha1.ReasonStoreUnavailable, err.Error()
		return again(retryStore), nil
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		return halt, fmt.Errorf("looking at the intervals after block %d: %w", block, err)
	}
	width, err := strconv.ParseFloat(s.run.Spec.Stop.MaxWidth, 64)
	if err != nil {
		return halt, fmt.Errorf("reading spec.stop.maxWidth: %w", err)
	}
	s.looked, s.stopped = block, table.NarrowerThan(width)
	return halt, nil
}

// review searches what was measured for cells that a fault from outside has voided, while their blocks can still be measured anew. A
// store that cannot be read is the report's to tell.
func (r *BenchmarkRunReconciler) review(ctx context.Context, s *runScope) (step, error) {
	if !s.reviewDue() {
		return goOn, nil
	}
	m := s.manifest(r.Version)
	data, err := r.Store.LoadTrials(ctx, m)
	switch {
	case err == nil:
		table, err := analysis.Analyse(data)
		if err != nil {
			return halt, fmt.Errorf("looking for blocks that were hit from outside: %w", err)
		}
		s.spoiled = table.SpoiledBlocks()
	case !artifact.Terminal(err) && s.now.Sub(m.Ended) <= reportPatience:
		s.why, s.waiting = v1alpha1.ReasonStoreUnavailable, err.Error()
		return again(retryStore), nil
	}
	s.reviewed = s.plan.Blocks + s.spare()
	return halt, nil
}

// lookDue is the block after which the run has to look now; 0 if there is none.
func (s *runScope) lookDue() int32 {
	if s.run.Spec.Stop == nil || s.run.Status.StoppedAfterBlock > 0 {
		return 0
	}
	for _, block := range v1alpha1.Looks {
		if block >= s.plan.Blocks || block <= s.run.Status.LookedAfterBlock {
			continue
		}
		for i := range s.trials {
			if t := &s.trials[i]; t.Spec.Block <= block && t.Status.CompletionTime == nil {
				return 0
			}
		}
		return block
	}
	return 0
}

// awaitsLook says whether a trial has to wait until its run has looked at the blocks before it.
func awaitsLook(run *v1alpha1.BenchmarkRun, block int32) bool {
	if run.Spec.Stop == nil {
		return false
	}
	for _, look := range v1alpha1.Looks {
		if block > look && look < plan.BlocksOf(run.Spec) && run.Status.LookedAfterBlock < look {
			return true
		}
	}
	return false
}
