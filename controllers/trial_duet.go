package controllers

import (
	"net"
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// planned is the trial as the plan of its run has it.
func (s *trialScope) planned() conduct.Trial { return facts.Trial(s.trial, s.plan) }

// work is what the trial does.
func (s *trialScope) work() kind.Work { return s.planned().Work }

// servers are the members that are measured: one, or the two of a duet.
func (s *trialScope) servers() []*member {
	return slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return !record.IsServer(m.Name) })
}

// targets are the addresses of the servers.
func (s *trialScope) targets() []string {
	var targets []string
	for i, m := range s.servers() {
		targets = append(targets, net.JoinHostPort(m.pod.Status.PodIP, strconv.Itoa(int(s.work().Servers()[i].Port))))
	}
	return targets
}

// serverCPU is the CPU on which both servers of a duet are put. It is nil outside a duet and where there is none.
func (s *trialScope) serverCPU() *int32 {
	servers := s.servers()
	if len(servers) < 2 {
		return nil
	}
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
	return conduct.PermanentFailure(v1alpha1.ReasonUnschedulable, "the servers of a duet must share a CPU, but pods %s and %s may run on CPUs %q of %s and %q of %s: let pods without exclusive CPUs share one pool there, or choose spec.order Blocks",
		servers[0].pod.Name, servers[1].pod.Name, servers[0].state.CPUsAllowed, servers[0].pod.Spec.NodeName, servers[1].state.CPUsAllowed, servers[1].pod.Spec.NodeName)
}
