package controllers

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

// plans remembers the plan of the run whose trials were looked at last: one run measures at a time, and each pass over a trial needs its plan. The zero
// value is ready, and any number of goroutines may use it.
type plans struct {
	mu   sync.Mutex
	last compiled
}

// compiled is the plan of a generation of a run, or why it cannot be compiled. It is full if its requests have their bodies.
type compiled struct {
	run        types.UID
	generation int64
	plan       plan.Plan
	err        error
	full       bool
}

// of is the plan of a run. Its requests lack the bodies that the run has frozen, unless somebody has read them.
func (p *plans) of(run *v1alpha1.BenchmarkRun) (plan.Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.run != run.UID || p.last.generation != run.Generation {
		p.last = compiled{run: run.UID, generation: run.Generation}
		p.last.plan, p.last.err = facts.Plan(run)
	}
	return p.last.plan, p.last.err
}

// withBodies is the plan of a run with the bodies that the run has frozen, which lie in the store under a prefix.
func (p *plans) withBodies(ctx context.Context, store inputs.Store, prefix string, run *v1alpha1.BenchmarkRun) (plan.Plan, error) {
	p.mu.Lock()
	last := p.last
	p.mu.Unlock()
	if last.run == run.UID && last.full {
		return last.plan, nil
	}
	full, err := inputs.Plan(ctx, store, prefix, run)
	if err != nil {
		return plan.Plan{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = compiled{run: run.UID, generation: run.Generation, plan: full, full: true}
	return full, nil
}
