package controllers

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
)

// placed is where the pods of the attempt are.
func (s *trialScope) placed() []v1alpha1.MemberNode {
	var list []v1alpha1.MemberNode
	for _, m := range s.members {
		if m.pod != nil && m.pod.Spec.NodeName != "" {
			list = append(list, v1alpha1.MemberNode{Member: m.Name, Node: m.pod.Spec.NodeName})
		}
	}
	return list
}

// largestServer is what the largest server of a run needs on one node, in thousandths of a CPU.
func largestServer(run *v1alpha1.BenchmarkRun) (int64, error) {
	p, err := compilePlan(run)
	if err != nil {
		return 0, fmt.Errorf("compiling the plan of BenchmarkRun %s: %w", run.Name, err)
	}
	return plan.LargestServer(p), nil
}

// compilePlan is the plan of a run on a cluster.
func compilePlan(run *v1alpha1.BenchmarkRun) (plan.Plan, error) {
	return plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
}
