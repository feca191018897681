package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

func weight(pinning record.Strictness) Validity {
	if pinning == record.Required {
		return Void
	}
	return Suspect
}

func (f *facts) generatorScope() Scope {
	if f.rules.generatorPinning == record.Required {
		return ScopeCell
	}
	return ScopeLoad
}

// checkPinning requires exactly the CPUs that each process should own. An unread list proves nothing.
func checkPinning(f *facts) []Reason {
	var out []Reason
	for _, p := range f.Allowed() {
		if p.Own() {
			continue
		}
		r := Reason{
			Code: NotPinned, Weight: weight(f.rules.generatorPinning), Scope: f.generatorScope(), Subject: p.Role,
			Value: float64(len(p.CPUs)), Limit: float64(p.Want), Detail: p.List,
		}
		if p.Role == measured.SubjectServer {
			r.Weight, r.Scope = weight(f.rules.pinning), ScopeCell
		}
		out = append(out, r)
	}
	return out
}

func checkShared(f *facts) []Reason {
	var out []Reason
	for _, o := range f.Overlaps() {
		r := Reason{Code: SharedCPUs, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: record.MemberGenerator(o.Generator), Detail: o.List}
		if !o.OnServer {
			r.Code, r.Weight, r.Scope = GeneratorsShareCPUs, weight(f.rules.generatorPinning), f.generatorScope()
		}
		out = append(out, r)
	}
	return out
}

// checkTogether requires the two servers of a duet to share the same CPUs, so that a disturbance hits both.
func checkTogether(f *facts) []Reason {
	list, together := f.Together()
	if together {
		return nil
	}
	return []Reason{{Code: NotTogether, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: measured.SubjectServer, Detail: list}}
}

const (
	// generatorLimited: no good cell had both sides at 95 %; the rest is the tool's start and end.
	generatorLimited = 0.95
	// generatorBusy: the usual watchdog, "less than 20 % idle", trips on 46 % of good cells (all fast servers). So it
	// marks latencies only, which include waiting for a busy generator.
	generatorBusy = 0.8
)

// checkGenerator: one exhausted generator of several makes the sum a lower bound.
func checkGenerator(f *facts) []Reason {
	busiest := f.Busiest()
	if busiest < generatorBusy {
		return nil
	}
	if busiest >= generatorLimited && f.ServerUtilisation() < generatorLimited {
		return []Reason{{Code: GeneratorLimited, Weight: Suspect, Scope: ScopeLoad, Value: busiest, Limit: generatorLimited}}
	}
	return []Reason{{Code: GeneratorBusy, Weight: Suspect, Scope: ScopeLatency, Value: busiest, Limit: generatorBusy}}
}

// neighboursSuspect: a share above 1 % occurs in 25 % of good cells.
const neighboursSuspect = 0.05

// checkNeighbours looks at other processes on the server's CPUs. On CPUs that the server does not own they are
// expected, and NotPinned has marked that.
func checkNeighbours(f *facts) []Reason {
	share, ok := f.Observed(measured.NeighbourShare)
	if !ok {
		return nil
	}
	return graded(NoisyNeighbours, share, min(neighboursSuspect, f.rules.neighboursVoid), f.rules.neighboursVoid)
}

// stealSuspect: steal above 0.1 % occurs in 61 % of good cells.
const stealSuspect = 0.01

func checkSteal(f *facts) []Reason {
	return graded(Steal, f.Steal(), min(stealSuspect, f.rules.stealVoid), f.rules.stealVoid)
}

// throttledVoid: exclusive CPUs have no quota, so throttling is unexpected. As lost CPU time it weighs like steal.
const throttledVoid = 0.05

func checkThrottled(f *facts) []Reason {
	return graded(Throttled, f.Throttled(), 0, throttledVoid)
}

const (
	// utilisationSuspect and utilisationSlack: /proc/stat counts 10 ms ticks by sampling who runs, and may cut the
	// first and the last. Work in bursts shorter than a tick was seen at half of its time. So a tenth of the CPUs is
	// allowed.
	utilisationSuspect = 1.02
	utilisationSlack   = 0.1
)

// checkUtilisation compares two clocks: a server cannot use more CPU time (by its cgroup) than its own CPUs were
// busy. CPU time over throughput would prove nothing, since one is computed from the other.
func checkUtilisation(f *facts) []Reason {
	if f.Seen == nil || f.Seen.BusyNanos <= 0 || !f.Pinning.ServerPinned {
		return nil
	}
	if float64(f.Seen.CPUNanos) <= utilisationSuspect*float64(f.Seen.BusyNanos)+utilisationSlack*float64(f.Seen.CoreNanos) {
		return nil
	}
	share := float64(f.Seen.CPUNanos) / float64(f.Seen.BusyNanos)
	return []Reason{{Code: UtilisationLaw, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: utilisationSuspect}}
}

// agentBusy: an agent that waits for its tool uses well below 1 % of a CPU. 5 % weighs like 5 % of other processes.
const agentBusy = 0.05

// checkAgents looks at Loadstone's own cost: agents, and an observer on the server's CPUs.
func checkAgents(f *facts) []Reason {
	var out []Reason
	if share := f.Observations[measured.AgentShare]; share > agentBusy {
		out = append(out, Reason{Code: AgentBusy, Weight: Suspect, Scope: ScopeLoad, Subject: measured.SubjectGenerator, Value: share, Limit: agentBusy})
	}
	if f.ObserverOnServer() && f.Pinning.ServerPinned {
		out = append(out, Reason{
			Code: ObserverOnServer, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Detail: f.Trial.Servers[0].Environment.CPUsAllowed,
		})
	}
	return out
}
