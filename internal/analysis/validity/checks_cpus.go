package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// weight is what a lack of pinning weighs.
func weight(pinning record.Strictness) Validity {
	if pinning == record.Required {
		return Void
	}
	return Suspect
}

// generatorScope is what generators that share CPUs put in doubt: everything where they were to own them; otherwise what they
// measured, and not what was seen of the server.
func (f *facts) generatorScope() Scope {
	if f.rules.generatorPinning == record.Required {
		return ScopeCell
	}
	return ScopeLoad
}

// checkPinning wants each process to be allowed on exactly as many CPUs as it was to own. A list that was not read proves nothing.
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

// checkShared marks a generator on the server's own CPUs, or on another generator's.
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

// checkTogether wants the two servers of a duet to be allowed on the same CPUs: what disturbs one shall disturb the other.
func checkTogether(f *facts) []Reason {
	list, together := f.Together()
	if together {
		return nil
	}
	return []Reason{{Code: NotTogether, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: measured.SubjectServer, Detail: list}}
}

const (
	// generatorLimited: of good cells none had both sides at 95 %; below it the rest is the tool's own start and end.
	generatorLimited = 0.95
	// generatorBusy: "less than 20 % idle", the usual watchdog, trips on 46 % of good cells (all fast servers), so it concerns the
	// latencies only, in which waiting for a busy generator is counted.
	generatorBusy = 0.8
)

// checkGenerator looks for the bottleneck. With several generators, one that is exhausted limits its own share of the load, which
// is enough to make the sum a lower bound.
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

// neighboursSuspect: a share above 1 % is met in 25 % of good cells.
const neighboursSuspect = 0.05

// checkNeighbours looks at who else ran on the server's CPUs. On CPUs that are not the server's own, everybody is expected to, and
// NotPinned has said so.
func checkNeighbours(f *facts) []Reason {
	share, ok := f.Observed(measured.NeighbourShare)
	if !ok {
		return nil
	}
	return graded(NoisyNeighbours, share, min(neighboursSuspect, f.rules.neighboursVoid), f.rules.neighboursVoid)
}

// stealSuspect: steal above 0.1 % is met in 61 % of good cells.
const stealSuspect = 0.01

func checkSteal(f *facts) []Reason {
	return graded(Steal, f.Steal(), min(stealSuspect, f.rules.stealVoid), f.rules.stealVoid)
}

// throttledVoid: exclusive CPUs have no quota, so that any throttling is a surprise; as a loss of CPU time it weighs like steal.
const throttledVoid = 0.05

func checkThrottled(f *facts) []Reason {
	return graded(Throttled, f.Throttled(), 0, throttledVoid)
}

const (
	// utilisationSuspect and utilisationSlack: /proc/stat counts ticks of 10 ms, of which the first and the last may be cut, and samples who
	// runs at each tick: work in bursts shorter than a tick was seen to be counted at half of its time. So a tenth of the CPUs is let pass.
	utilisationSuspect = 1.02
	utilisationSlack   = 0.1
)

// checkUtilisation compares two clocks: a server cannot have used more CPU time, by its cgroup, than its own CPUs were busy. CPU
// time over throughput would prove nothing, since one is computed from the other.
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

// agentBusy: an agent that waits for its tool uses well below a hundredth of a CPU. Five hundredths weigh as much as those of other processes.
const agentBusy = 0.05

// checkAgents looks at what Loadstone itself costs: the agents beside the tools, and the observer, which must stay off the server's
// own CPUs.
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
