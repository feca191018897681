package validity

import (
	"slices"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/record"
)

// pinning reads the CPU lists back.
func (f *facts) pinning() Pinning {
	var p Pinning
	if f.seen != nil {
		p.ServerCPUs = f.seen.CPUsAllowed
	}
	p.GeneratorCPUs = make([]string, 0, len(f.runs))
	for _, r := range f.runs {
		if r != nil {
			p.GeneratorCPUs = append(p.GeneratorCPUs, r.CPUsAllowed)
		}
	}
	reasons := slices.Concat(checkPinning(f), checkShared(f), checkTogether(f))
	p.Pinned = len(reasons) == 0
	p.ServerPinned = !slices.ContainsFunc(reasons, func(r Reason) bool {
		return r.Subject == SubjectServer || r.Code == SharedCPUs
	})
	return p
}

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
	check := func(subject, list string, want int32, weight Validity, scope Scope) {
		cpus := cpuset.Parse(list)
		if len(cpus) == int(want) {
			return
		}
		out = append(out, Reason{
			Code: NotPinned, Weight: weight, Scope: scope, Subject: subject,
			Value: float64(len(cpus)), Limit: float64(want), Detail: list,
		})
	}
	list := ""
	if f.seen != nil {
		list = f.seen.CPUsAllowed
	}
	check(SubjectServer, list, f.implementation.CPUs, weight(f.rules.pinning), ScopeCell)
	for i, r := range f.runs {
		list := ""
		if r != nil {
			list = r.CPUsAllowed
		}
		check(generator(i), list, f.level.GeneratorCPUs(), weight(f.rules.generatorPinning), f.generatorScope())
	}
	return out
}

// checkShared finds a generator on the server's own CPUs, or on another generator's. CPU numbers of different nodes say nothing of
// each other.
func checkShared(f *facts) []Reason {
	if f.seen == nil {
		return nil
	}
	type owner struct {
		node string
		cpus []int
	}
	var owners []owner
	servers := 0
	if server := cpuset.Parse(f.seen.CPUsAllowed); len(server) > 0 {
		owners = append(owners, owner{f.trial.Servers[0].Environment.Node, server})
		servers = 1
	}
	var out []Reason
	for i, r := range f.runs {
		if r == nil {
			continue
		}
		cpus := cpuset.Parse(r.CPUsAllowed)
		own := owner{f.trial.Generators[i].Environment.Node, cpus}
		shared := func(o owner) bool { return o.node == own.node && overlap(o.cpus, own.cpus) }
		switch {
		case slices.ContainsFunc(owners[:servers], shared):
			out = append(out, Reason{Code: SharedCPUs, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: generator(i), Detail: r.CPUsAllowed})
		case slices.ContainsFunc(owners[servers:], shared):
			out = append(out, Reason{Code: GeneratorsShareCPUs, Weight: weight(f.rules.generatorPinning), Scope: f.generatorScope(), Subject: generator(i), Detail: r.CPUsAllowed})
		}
		owners = append(owners, own)
	}
	return out
}

const (
	// generatorLimited: of good cells none had both sides at 95 %; below it the rest is the tool's own start and end.
	generatorLimited = 0.95
	// generatorBusy: "less than 20 % idle", the usual watchdog, trips on 46 % of good cells (all fast servers), so it concerns the
	// latencies only, in which waiting for a busy generator is counted.
	generatorBusy = 0.8
)

// busiest is the utilisation of the busiest generator, or of the CPUs that several share: two that have half of a CPU each have no more
// to give than one that has it all, and neither has one that shares its CPUs with strangers or with other virtual machines.
func (f *facts) busiest() float64 {
	busiest := slices.Max(append([]float64{0}, f.cell.GeneratorUtilisation...))
	for i, r := range f.runs {
		if r == nil || r.Measurement == nil || r.Measurement.DurationMicros <= 0 {
			continue
		}
		cpus := cpuset.Parse(r.CPUsAllowed)
		if len(cpus) == 0 {
			continue
		}
		var nanos int64
		for j, o := range f.runs {
			if o == nil || f.trial.Generators[i].Environment.Node != f.trial.Generators[j].Environment.Node {
				continue
			}
			if overlap(cpus, cpuset.Parse(o.CPUsAllowed)) {
				nanos += o.CPUNanos
			}
		}
		busiest = max(busiest, float64(nanos)/1e3/float64(r.Measurement.DurationMicros)/float64(len(cpus)), f.taken(i))
	}
	return busiest
}

// taken is the share of a generator's CPUs that anybody used or the hypervisor took; 0 if unknown, or if the server has some of them.
func (f *facts) taken(i int) float64 {
	r := f.runs[i]
	beside := f.seen != nil && f.trial.Servers[0].Environment.Node == f.trial.Generators[i].Environment.Node &&
		overlap(cpuset.Parse(r.CPUsAllowed), cpuset.Parse(f.seen.CPUsAllowed))
	if r.CoreNanos <= 0 || beside {
		return 0
	}
	return float64(r.BusyNanos+r.StealNanos) / float64(r.CoreNanos)
}

// checkGenerator looks for the bottleneck. With several generators, one that is exhausted limits its own share of the load, which
// is enough to make the sum a lower bound.
func checkGenerator(f *facts) []Reason {
	busiest := f.busiest()
	if busiest < generatorBusy {
		return nil
	}
	if busiest >= generatorLimited && f.serverUtilisation() < generatorLimited {
		return []Reason{{Code: GeneratorLimited, Weight: Suspect, Scope: ScopeLoad, Value: busiest, Limit: generatorLimited}}
	}
	return []Reason{{Code: GeneratorBusy, Weight: Suspect, Scope: ScopeLatency, Value: busiest, Limit: generatorBusy}}
}

// serverUtilisation is the share of its own CPUs that the server used, or could not have since the hypervisor took it; 0 if unknown.
func (f *facts) serverUtilisation() float64 {
	if f.cell.ServerCPUs == nil {
		return 0
	}
	return *f.cell.ServerCPUs/float64(f.implementation.CPUs) + f.stolen()
}

// strangersSuspect: a share above 1 % is met in 25 % of good cells.
const strangersSuspect = 0.05

// checkStrangers looks at who else ran on the server's CPUs. On CPUs that are not the server's own, everybody is expected to, and
// NotPinned has said so.
func checkStrangers(f *facts) []Reason {
	share, ok := f.cell.seenOf(StrangersShare)
	if !ok {
		return nil
	}
	return graded(Strangers, share, min(strangersSuspect, f.rules.strangersVoid), f.rules.strangersVoid)
}

// stolenSuspect: steal above 0.1 % is met in 61 % of good cells.
const stolenSuspect = 0.01

func checkStolen(f *facts) []Reason {
	return graded(Stolen, f.stolen(), min(stolenSuspect, f.rules.stolenVoid), f.rules.stolenVoid)
}

// stolen is the share of the server's CPUs that the hypervisor took; 0 if unknown.
func (f *facts) stolen() float64 {
	if f.seen == nil || f.seen.CoreNanos <= 0 {
		return 0
	}
	return float64(f.seen.StealNanos) / float64(f.seen.CoreNanos)
}

// throttledVoid: exclusive CPUs have no quota, so that any throttling is a surprise; as a loss of CPU time it weighs like steal.
const throttledVoid = 0.05

func checkThrottled(f *facts) []Reason {
	if f.seen == nil || f.cell.LoadSeconds <= 0 {
		return nil
	}
	return graded(Throttled, float64(f.seen.ThrottledNanos)/1e9/f.cell.LoadSeconds, 0, throttledVoid)
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
	if f.seen == nil || f.seen.BusyNanos <= 0 || !f.cell.Pinning.ServerPinned {
		return nil
	}
	if float64(f.seen.CPUNanos) <= utilisationSuspect*float64(f.seen.BusyNanos)+utilisationSlack*float64(f.seen.CoreNanos) {
		return nil
	}
	share := float64(f.seen.CPUNanos) / float64(f.seen.BusyNanos)
	return []Reason{{Code: UtilisationLaw, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: utilisationSuspect}}
}

// agentBusy: an agent that waits for its tool uses well below a hundredth of a CPU. Five hundredths weigh like as much of strangers.
const agentBusy = 0.05

// checkAgents looks at what Loadstone itself costs: the agents beside the tools, and the observer, which must stay off the server's
// own CPUs.
func checkAgents(f *facts) []Reason {
	var out []Reason
	if share := f.cell.Observations[AgentShare]; share > agentBusy {
		out = append(out, Reason{Code: AgentBusy, Weight: Suspect, Scope: ScopeLoad, Subject: SubjectGenerator, Value: share, Limit: agentBusy})
	}
	if f.seen == nil || !f.cell.Pinning.ServerPinned {
		return out
	}
	if overlap(cpuset.Parse(f.seen.CPUsAllowed), cpuset.Parse(f.trial.Servers[0].Environment.CPUsAllowed)) {
		out = append(out, Reason{
			Code: ObserverOnServer, Weight: Suspect, Scope: ScopeCell, Subject: SubjectServer, Detail: f.trial.Servers[0].Environment.CPUsAllowed,
		})
	}
	return out
}

// overlap says whether two CPU sets share a CPU.
func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}
