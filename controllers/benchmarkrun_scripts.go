package controllers

import (
	"context"
	"errors"

	"loadstone.dev/loadstone/internal/pass"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/scripts"
)

// freeze stores the users' scripts as they are when the run starts. From then on nobody reads their ConfigMaps: the generators of every
// trial get what was stored.
func (r *BenchmarkRunReconciler) freeze(ctx context.Context, s *runScope) (pass.Step, error) {
	if scripts.Frozen(s.run) {
		return pass.GoOn, nil
	}
	texts, err := scripts.Read(ctx, r.Live, s.run)
	if v := (*plan.Violation)(nil); errors.As(err, &v) {
		return s.refuse(v)
	} else if err != nil {
		return pass.Halt, err
	}
	if s.scripts, err = scripts.Freeze(ctx, r.Store, s.prefix(), texts); err != nil {
		return r.storeAway(s, err)
	}
	return pass.Halt, nil
}
