package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/record"
)

// binding is the trial to whose nodes a run is bound: the first that is stored. One that was lost has left nothing that others would have
// to be compared with. It is nil as long as there is none; trials are given in their order.
func binding(trials []v1alpha1.Trial) *v1alpha1.Trial {
	for i := range trials {
		if t := &trials[i]; t.Status.ManifestKey != "" && len(t.Status.Nodes) > 0 {
			return t
		}
	}
	return nil
}

// bound are the nodes to which the trial's pods are bound, by the role of their agents; nil if they may still be chosen.
func (s *trialScope) bound() map[string]string {
	first := binding(s.siblings)
	if first == nil {
		return nil
	}
	nodes := map[string]string{}
	for _, n := range first.Status.Nodes {
		nodes[n.Member] = n.Node
	}
	return nodes
}

// placed is where the pods of the attempt are.
func (s *trialScope) placed() []v1alpha1.MemberNode {
	var list []v1alpha1.MemberNode
	for _, m := range s.members {
		if m.pod != nil && m.pod.Spec.NodeName != "" {
			list = append(list, v1alpha1.MemberNode{Member: m.role, Node: m.pod.Spec.NodeName})
		}
	}
	return list
}

// boundTo says in words to which node a pod is bound and why; empty if it is not.
func (s *trialScope) boundTo(p *corev1.Pod) string {
	node := s.bound()[p.Labels[v1alpha1.LabelMember]]
	if node == "" {
		return ""
	}
	return fmt.Sprintf("node %s, where trial %s was measured: all trials of a run share their nodes", node, binding(s.siblings).Name)
}

// awaitedNode says which node a pod waits for; empty if none does.
func awaitedNode(s *trialScope) string {
	for _, p := range s.pods() {
		if to := s.boundTo(p); to != "" && p.Spec.NodeName == "" {
			return fmt.Sprintf("pod %s waits for %s", p.Name, to)
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
		return 2 * (plan.DuetMilliCPU + plan.ObserverMilliCPU)
	}
	return int64(most)*1000 + plan.ObserverMilliCPU
}

// boundNodes are the nodes to which a run is bound, for its manifest, and a sentence that says so.
func boundNodes(trials []v1alpha1.Trial) (nodes []record.BoundNode, note string) {
	first := binding(trials)
	if first == nil {
		return nil, ""
	}
	note = fmt.Sprintf("all trials after %s were bound to its nodes:", first.Name)
	for i, n := range first.Status.Nodes {
		nodes = append(nodes, record.BoundNode{Role: n.Member, Node: n.Node})
		if i > 0 {
			note += ","
		}
		note += fmt.Sprintf(" %s on %s", n.Member, n.Node)
	}
	return nodes, note
}
