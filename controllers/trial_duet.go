package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/protocol"
)

// servers are the members that are measured: one, or the two of a duet.
func (s *trialScope) servers() []*member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.role == protocol.RoleObserver })
	return s.members[i:]
}

// server is the member that is measured, the first one of a duet.
func (s *trialScope) server() *member { return s.servers()[0] }

// implementationOf is what a server's pod runs.
func (s *trialScope) implementationOf(p *corev1.Pod) v1alpha1.Implementation {
	if s.trial.Spec.Beside != nil && p.Labels[v1alpha1.LabelMember] == protocol.RoleBeside {
		return *s.trial.Spec.Beside
	}
	return s.trial.Spec.Implementation
}

// besideTarget is the address of the second server of a duet; empty outside one.
func besideTarget(s *trialScope) string {
	if s.trial.Spec.Beside == nil {
		return ""
	}
	return address(s.servers()[1].pod, *s.trial.Spec.Beside)
}

// serverCPU is the CPU on which both servers of a duet are put. It is nil outside a duet and where there is none.
func (s *trialScope) serverCPU() *int32 {
	if s.trial.Spec.Beside == nil {
		return nil
	}
	servers := s.servers()
	var neighbours []string
	for _, g := range s.generators() {
		if g.pod.Spec.NodeName == servers[0].pod.Spec.NodeName {
			neighbours = append(neighbours, g.state.CPUsAllowed)
		}
	}
	return conduct.SharedCPU(servers[0].state.CPUsAllowed, servers[1].state.CPUsAllowed, neighbours)
}

// noSharedCPU ends a duet whose servers cannot meet. Every further attempt would show the same.
func noSharedCPU(s *trialScope) *conduct.Failure {
	servers := s.servers()
	return conduct.ImplementationFailure(v1alpha1.ReasonUnschedulable, "the servers of a duet must share a CPU, and pods %s and %s may run on CPUs %q of %s and %q of %s: let pods without CPUs of their own share the same ones there, or choose spec.order Blocks",
		servers[0].pod.Name, servers[1].pod.Name, servers[0].state.CPUsAllowed, servers[0].pod.Spec.NodeName, servers[1].state.CPUsAllowed, servers[1].pod.Spec.NodeName)
}
