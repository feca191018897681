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

// plans caches the last used plan: one run measures at a time, and each pass needs its plan. The zero value is ready for concurrent use.
type plans struct {
	mu   sync.Mutex
	last planned
}

// planned is the plan of a run, or the violation of its spec. full means that its requests have their bodies.
type planned struct {
	of   basis
	plan plan.Plan
	err  error
	full bool
}

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

// of returns the plan of a run, or a *plan.Violation. A run started with another version's plan continues with that stored plan. If it cannot
// be read, the store's error is returned; if it does not exist, the spec is compiled. Requests lack their stored bodies unless they were read
// before.
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

// begunByAnother reports whether another version's plan started the run.
func begunByAnother(run *v1alpha1.BenchmarkRun, p plan.Plan) bool {
	return run.Status.StartTime != nil && run.Status.PlanHash != "" && run.Status.PlanHash != p.Hash()
}

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

func runPrefix(run *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run))
}
