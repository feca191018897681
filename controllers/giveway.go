package controllers

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

// giveWay ends a run that waits for unavailable nodes while other runs are queued; nil if it may wait on.
func giveWay(ctx context.Context, c, live client.Reader, run *v1alpha1.BenchmarkRun, trials conduct.Trials, pods v1alpha1.PodSettings) (*conduct.Ending, error) {
	nodes, err := readNodes(ctx, c)
	if err != nil {
		return nil, err
	}
	away := missing(nodes, trials.Bound(false))
	if len(away) == 0 {
		return nil, nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := live.List(ctx, &runs); err != nil {
		return nil, fmt.Errorf("listing BenchmarkRuns: %w", err)
	}
	behind := slices.DeleteFunc(queue.Order(runs.Items), func(r v1alpha1.BenchmarkRun) bool { return r.UID == run.UID || !couldBegin(&r, nodes, pods) })
	if len(behind) == 0 {
		return nil, nil
	}
	return conduct.GaveWay(away, len(behind)), nil
}

// couldBegin reports whether a run waits only for its turn.
func couldBegin(r *v1alpha1.BenchmarkRun, nodes []plan.Node, pods v1alpha1.PodSettings) bool {
	nodes = plan.Select(nodes, render.Settings(pods, r.Spec.Placement.Pods).NodeSelector)
	p, err := facts.Plan(r)
	return err == nil && r.Status.StartTime == nil && controllerutil.ContainsFinalizer(r, v1alpha1.Finalizer) && plan.Fits(p, nodes) == nil
}

func missing(nodes []plan.Node, bound map[string]string) []string {
	var away []string
	for _, name := range bound {
		if !slices.ContainsFunc(nodes, func(n plan.Node) bool { return n.Name == name && !n.Away }) {
			away = append(away, name)
		}
	}
	slices.Sort(away)
	return slices.Compact(away)
}
