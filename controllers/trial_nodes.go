package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

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

// boundTo returns a phrase that names the node to which a pod is bound and why; empty if it is not.
func (s *trialScope) boundTo(p *corev1.Pod) string {
	node := s.siblings.Bound()[p.Labels[v1alpha1.LabelMember]]
	if node == "" {
		return ""
	}
	return fmt.Sprintf("node %s, where trial %s was measured: all trials of a run share their nodes", node, s.siblings.Binding().Name)
}

// awaitedNode returns which node a pod waits for; empty if none does.
func awaitedNode(s *trialScope) string {
	for _, p := range s.pods() {
		if to := s.boundTo(p); to != "" && p.Spec.NodeName == "" {
			return fmt.Sprintf("pod %s is waiting for %s", p.Name, to)
		}
	}
	return ""
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
