package controllers

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cpuset"
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

// sameServers says whether two trials of a run measure the same: those of a duet all do.
func sameServers(a, b *v1alpha1.Trial) bool {
	return a.Spec.Beside != nil || a.Spec.Implementation.Name == b.Spec.Implementation.Name
}

// besideTarget is the address of the second server of a duet; empty outside one.
func besideTarget(s *trialScope) string {
	if s.trial.Spec.Beside == nil {
		return ""
	}
	return address(s.servers()[1].pod, *s.trial.Spec.Beside)
}

// checked is what a check has found, and of which implementation.
func (s *trialScope) checked(result string) (implementation, what string) {
	if what, ok := strings.CutPrefix(result, protocol.CheckedBeside); ok && s.trial.Spec.Beside != nil {
		return s.trial.Spec.Beside.Name, what
	}
	return s.trial.Spec.Implementation.Name, result
}

// serverCPU is the CPU on which both servers of a duet are put: the highest on which both may run, since the first does the
// housekeeping of most machines, but none that a generator on their node may use if there is another. It is nil outside a duet and
// where there is none.
func (s *trialScope) serverCPU() *int32 {
	if s.trial.Spec.Beside == nil {
		return nil
	}
	servers := s.servers()
	common := slices.DeleteFunc(cpuset.Parse(servers[0].state.CPUsAllowed), func(cpu int) bool {
		return !slices.Contains(cpuset.Parse(servers[1].state.CPUsAllowed), cpu)
	})
	if len(common) == 0 {
		return nil
	}
	free := slices.DeleteFunc(slices.Clone(common), s.takenByGenerator)
	if len(free) > 0 {
		common = free
	}
	highest := int32(slices.Max(common))
	return &highest
}

// takenByGenerator says whether a generator on the servers' node may run on a CPU.
func (s *trialScope) takenByGenerator(cpu int) bool {
	node := s.server().pod.Spec.NodeName
	return slices.ContainsFunc(s.generators(), func(g *member) bool {
		return g.pod.Spec.NodeName == node && slices.Contains(cpuset.Parse(g.state.CPUsAllowed), cpu)
	})
}

// noSharedCPU ends a duet whose servers cannot meet. Every further trial would show the same.
func noSharedCPU(s *trialScope) *fault {
	servers := s.servers()
	return outsideFault(v1alpha1.ReasonUnschedulable, "the servers of a duet must share a CPU, and pods %s and %s may run on CPUs %q of %s and %q of %s: let pods without CPUs of their own share the same ones there, or choose spec.order Blocks",
		servers[0].pod.Name, servers[1].pod.Name, servers[0].state.CPUsAllowed, servers[0].pod.Spec.NodeName, servers[1].state.CPUsAllowed, servers[1].pod.Spec.NodeName)
}
