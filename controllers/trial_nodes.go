package controllers

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind/sweep"
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

// largestServer is what the largest server of a run needs with its observer, in thousandths of a CPU. The servers of a duet are equal.
func largestServer(spec v1alpha1.BenchmarkRunSpec) int64 {
	var most int32
	for _, i := range spec.Implementations {
		most = max(most, i.CPUs, plan.DefaultCPUs)
	}
	if spec.Order == v1alpha1.OrderSlicedDuet {
		return 2 * (sweep.DuetMilliCPU + sweep.ObserverMilliCPU)
	}
	return int64(most)*1000 + sweep.ObserverMilliCPU
}
