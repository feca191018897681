package controllers

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// plans remembers the plan of the run that was looked at last: one run measures at a time, and each pass over one of its trials needs the plan. The zero
// value is ready, and any number of goroutines may use it.
type plans struct {
	mu   sync.Mutex
	last planned
}

// planned is the plan of a run, or why its spec is refused. It is full if its requests have their bodies.
type planned struct {
	of   basis
	plan plan.Plan
	err  error
	full bool
}

// basis is all that decides which plan a run has: its spec, or the stored plan with which it has begun.
type basis struct {
	run        types.UID
	generation int64
	hash       string
	begun      bool
}

func basisOf(run *v1alpha1.BenchmarkRun) basis {
	return basis{run.UID, run.Generation, run.Status.PlanHash, run.Status.StartTime != nil}
}

func (p *plans) recall() planned {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *plans) keep(own planned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = own
}

// of is the plan of a run as its spec is compiled, or a *plan.Violation. A run that has begun by another plan, which another version of the operator has
// compiled, goes on by that: it is stored. If it cannot be read, the error is that of the store; if it does not exist, the spec decides. Requests lack the bodies that the run has frozen, unless somebody has read them.
func (p *plans) of(ctx context.Context, store artifact.Runs, run *v1alpha1.BenchmarkRun) (plan.Plan, error) {
	own := planned{of: basisOf(run)}
	if last := p.recall(); last.of == own.of {
		return last.plan, last.err
	}
	own.plan, own.err = facts.Plan(run)
	if own.err == nil && begunByAnother(run, own.plan) {
		stored, err := publish.Plan(ctx, store, runPrefix(run), run.Status.PlanHash)
		switch {
		case err == nil:
			own.plan = stored
		case errors.Is(err, artifact.ErrNotFound):
			log.FromContext(ctx).Info("the stored plan of the run does not exist: continuing with the plan that this operator version compiles", "key", artifact.PlanKey(runPrefix(run)))
		default:
			return plan.Plan{}, err
		}
	}
	p.keep(own)
	return own.plan, own.err
}

// begunByAnother reports whether a run has begun by another plan.
func begunByAnother(run *v1alpha1.BenchmarkRun, p plan.Plan) bool {
	return run.Status.StartTime != nil && run.Status.PlanHash != "" && run.Status.PlanHash != p.Hash()
}

// withBodies is a plan of a run with the bodies that the run has frozen.
func (p *plans) withBodies(ctx context.Context, store artifact.Bucket, run *v1alpha1.BenchmarkRun, without plan.Plan) (plan.Plan, error) {
	if last := p.recall(); last.of == basisOf(run) && last.full {
		return last.plan, nil
	}
	bodies, err := inputs.LoadBodies(ctx, store, runPrefix(run), run.Status.Bodies)
	if err != nil {
		return plan.Plan{}, err
	}
	full, err := inputs.WithBodies(without, bodies)
	if err != nil {
		return plan.Plan{}, err
	}
	p.keep(planned{of: basisOf(run), plan: full, full: true})
	return full, nil
}

// runPrefix is where the files of a run lie.
func runPrefix(run *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run))
}
