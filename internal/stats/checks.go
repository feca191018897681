package stats

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// checkStatus voids a cell with any error answer: an error page is often faster than the real one.
func checkStatus(f *facts, _ v1alpha1.Strictness) []Reason {
	if f.cell.Errors.Status == 0 {
		return nil
	}
	return []Reason{{Code: WrongStatus, Weight: Void, Scope: ScopeCell, Value: float64(f.cell.Errors.Status)}}
}

// checkErrors relates failed requests to all: those that were completed, and those that were not because their connection failed.
func checkErrors(f *facts, _ v1alpha1.Strictness) []Reason {
	e := f.cell.Errors
	failed := e.Sum() - e.Status
	if failed == 0 {
		return nil
	}
	r := Reason{Code: Errors, Weight: Suspect, Scope: ScopeCell, Limit: errorsVoid}
	r.Value = float64(failed) / float64(f.cell.Requests+e.Connect+e.Read+e.Write)
	if f.cell.Requests == 0 || r.Value > errorsVoid {
		r.Weight, r.Value = Void, min(r.Value, 1)
	}
	return []Reason{r}
}

func checkStarved(f *facts, _ v1alpha1.Strictness) []Reason {
	share := float64(f.cell.Errors.Timeout) / float64(max(f.level.Connections, 1))
	if share <= starvedVoid {
		return nil
	}
	return []Reason{{Code: Starved, Weight: Void, Scope: ScopeCell, Value: share, Limit: starvedVoid}}
}

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
	p.Pinned = len(checkPinning(f, v1alpha1.Required)) == 0 && len(checkShared(f, v1alpha1.Required)) == 0
	return p
}

// weight is what a lack of pinning weighs.
func weight(pinning v1alpha1.Strictness) Validity {
	if pinning == v1alpha1.Required {
		return Void
	}
	return Suspect
}

// checkPinning wants each process to be allowed on exactly as many CPUs as it was to own. A list that was not read proves nothing.
func checkPinning(f *facts, pinning v1alpha1.Strictness) []Reason {
	var out []Reason
	check := func(subject, list string, want int32) {
		cpus, err := parseCPUs(list)
		if err == nil && len(cpus) == int(want) {
			return
		}
		out = append(out, Reason{
			Code: NotPinned, Weight: weight(pinning), Scope: ScopeCell, Subject: subject,
			Value: float64(len(cpus)), Limit: float64(want), Detail: list,
		})
	}
	list := ""
	if f.seen != nil {
		list = f.seen.CPUsAllowed
	}
	check(record.RoleServer, list, f.implementation.CPUs)
	for i, r := range f.runs {
		list := ""
		if r != nil {
			list = r.CPUsAllowed
		}
		check(generator(i), list, f.level.generatorCPUs())
	}
	return out
}

// checkShared finds a generator on the server's own CPUs. CPU numbers of different nodes say nothing of each other.
func checkShared(f *facts, pinning v1alpha1.Strictness) []Reason {
	if f.seen == nil {
		return nil
	}
	server, err := parseCPUs(f.seen.CPUsAllowed)
	if err != nil {
		return nil
	}
	var out []Reason
	for i, r := range f.runs {
		if r == nil || f.trial.Generators[i].Environment.Node != f.trial.Server.Environment.Node {
			continue
		}
		if cpus, err := parseCPUs(r.CPUsAllowed); err == nil && overlap(server, cpus) {
			out = append(out, Reason{Code: SharedCPUs, Weight: weight(pinning), Scope: ScopeCell, Subject: generator(i), Detail: r.CPUsAllowed})
		}
	}
	return out
}

// checkGenerator looks for the bottleneck. With several generators, one that is exhausted limits its own share of the load, which
// is enough to make the sum a lower bound.
func checkGenerator(f *facts, _ v1alpha1.Strictness) []Reason {
	var busiest float64
	for _, r := range f.runs {
		if r == nil || r.Measurement == nil || r.Measurement.DurationMicros <= 0 {
			continue
		}
		nanos := float64(r.Measurement.DurationMicros) * 1e3 * float64(f.level.generatorCPUs())
		busiest = max(busiest, float64(r.CPUNanos)/nanos)
	}
	if busiest < generatorBusy {
		return nil
	}
	if busiest >= generatorLimited && f.serverUtilisation() < generatorLimited {
		return []Reason{{Code: GeneratorLimited, Weight: Suspect, Scope: ScopeLoad, Value: busiest, Limit: generatorLimited}}
	}
	return []Reason{{Code: GeneratorBusy, Weight: Suspect, Scope: ScopeLatency, Value: busiest, Limit: generatorBusy}}
}

// serverUtilisation is the share of its own CPUs that the server used; 0 if unknown.
func (f *facts) serverUtilisation() float64 {
	if f.cell.ServerCPUs == nil {
		return 0
	}
	return *f.cell.ServerCPUs / float64(f.implementation.CPUs)
}

// checkStrangers looks at who else ran on the server's CPUs. On CPUs that are not the server's own, everybody is expected to, and
// NotPinned has said so.
func checkStrangers(f *facts, _ v1alpha1.Strictness) []Reason {
	if f.seen == nil || f.seen.CoreNanos <= 0 || !f.cell.Pinning.Pinned {
		return nil
	}
	share := float64(f.seen.BusyNanos-f.seen.CPUNanos) / float64(f.seen.CoreNanos)
	return graded(Strangers, share, strangersSuspect, strangersVoid)
}

func checkStolen(f *facts, _ v1alpha1.Strictness) []Reason {
	if f.seen == nil || f.seen.CoreNanos <= 0 {
		return nil
	}
	return graded(Stolen, float64(f.seen.StealNanos)/float64(f.seen.CoreNanos), stolenSuspect, stolenVoid)
}

func checkThrottled(f *facts, _ v1alpha1.Strictness) []Reason {
	if f.seen == nil || f.cell.LoadSeconds <= 0 {
		return nil
	}
	return graded(Throttled, float64(f.seen.ThrottledNanos)/1e9/f.cell.LoadSeconds, 0, throttledVoid)
}

// graded is nothing up to the first threshold, Suspect up to the second, Void beyond.
func graded(code ReasonCode, share, suspect, void float64) []Reason {
	switch {
	case share <= suspect:
		return nil
	case share <= void:
		return []Reason{{Code: code, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: suspect}}
	}
	return []Reason{{Code: code, Weight: Void, Scope: ScopeCell, Value: share, Limit: void}}
}

// ownFault says whether a cell is void by the implementation's own fault.
func ownFault(c Cell) bool {
	return slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Weight == Void && (r.Code == WrongStatus || r.Code == Errors || r.Code == Starved || r.Code == NoRequests)
	})
}
