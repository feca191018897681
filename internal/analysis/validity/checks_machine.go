package validity

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// checkMachine voids a cell whose server or generators were not on the machine, or not with the tools, of most
// trials: a difference may then be the machine's.
func checkMachine(f *facts) []Reason {
	var out []Reason
	for _, d := range f.rules.usual.OtherMachine(f.Facts) {
		if n := len(out); n == 0 || out[n-1].Subject != d.Role {
			out = append(out, Reason{Code: DifferentMachine, Weight: Void, Scope: ScopeCell, Subject: d.Role})
		}
		last := &out[len(out)-1]
		if last.Detail != "" {
			last.Detail += ", "
		}
		last.Detail += fmt.Sprintf("%s %s instead of %s", d.Fact, d.Own, d.Usual)
	}
	return out
}

func checkImage(f *facts) []Reason {
	own, want, other := f.rules.usual.OtherImage(f.Facts)
	if !other {
		return nil
	}
	return []Reason{{Code: DifferentImage, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer, Detail: fmt.Sprintf("%s instead of %s", own, want)}}
}

// checkScript voids a cell if a generator ran another script than the one that the run froze at its start.
func checkScript(f *facts) []Reason {
	want := f.rules.usual.Script(f.Level.Load)
	if want == "" {
		return nil
	}
	var out []Reason
	for i, g := range f.Trial.Generators {
		own := util.First(g.Scripts, func(s *record.ScriptRun) bool { return s.Load == f.Level.Load })
		if own != nil && own.SHA256 != want {
			out = append(out, Reason{
				Code: DifferentScript, Weight: Void, Scope: ScopeCell, Subject: record.MemberGenerator(i),
				Detail: fmt.Sprintf("SHA-256 %s instead of %s", own.SHA256, want),
			})
		}
	}
	return out
}

const (
	// workSlower: on a busy machine (seven runnable tasks on two CPUs), the same work, 50 ms apart, differed by 1.4 % in the median. In 22 of 798
	// pairs it differed by more than a fifth, either way.
	workSlower = 0.2
	// frequencyFell: a tenth less is another machine. busyCPU: only a CPU that works at least half of the time is
	// checked, since an idle one sets its clock freely.
	frequencyFell, busyCPU = 0.1, 0.5
)

// checkSpeed checks whether the server's CPU slowed down during a cell. Only a slower CPU was throttled or has a
// neighbour on its core; one that becomes faster was idle.
func checkSpeed(f *facts) []Reason {
	var out []Reason
	if before, after, ok := f.Worked(); ok && after/before-1 > workSlower {
		out = append(out, Reason{Code: CPUSlower, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: after/before - 1, Limit: workSlower})
	}
	// Among CPUs that the server does not own, some are idle and therefore slow.
	busy := f.Pinning.ServerPinned && f.Level.RampToRequestsPerSecond == 0 && f.ServerUtilisation() >= busyCPU
	if first, last, ok := f.Frequencies(); ok && busy && 1-last/first > frequencyFell {
		out = append(out, Reason{Code: FrequencyFell, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: 1 - last/first, Limit: frequencyFell})
	}
	return out
}

// checkMeasuredAudit looks at the answers that an agent read during the measured load. A missing one only marks:
// these are few requests, on an extra connection.
func checkMeasuredAudit(f *facts) []Reason {
	all := f.MeasuredAudit()
	var out []Reason
	if wrong := all.WrongStatus + all.WrongBody; wrong > 0 {
		out = append(out, Reason{Code: WrongAnswers, Weight: Void, Scope: ScopeCell, Value: float64(wrong), Detail: all.Example})
	}
	if all.Failed > 0 {
		out = append(out, Reason{Code: AuditFailed, Weight: Suspect, Scope: ScopeCell, Value: float64(all.Failed) / float64(max(all.Requests, all.Failed))})
	}
	return out
}

// checkLoadAudit looks at the answers that an agent saw on the load's own connections. A single wrong one voids the cell: of n
// answers, at least one is wrong in 95 % if a share of 3/n of all is.
func checkLoadAudit(f *facts) []Reason {
	all := f.LoadAudit()
	wrong := all.WrongStatus + all.WrongBody
	if wrong == 0 {
		return nil
	}
	detail := fmt.Sprintf("of %d sampled on the load's own connections: %s", all.Requests, all.Example)
	return []Reason{{Code: WrongAnswers, Weight: Void, Scope: ScopeCell, Value: float64(wrong), Detail: detail}}
}

const (
	// stoodStill is the smallest difference that verdicts distinguish: a pause of half a second in ten.
	stoodStill = inference.EquivalenceMargin
	// stoodOnce: a single pause is no habit; a busy machine made one of 0.2 s in two of sixteen short cells. One of a
	// fifth of the load is marked whatever the cause.
	stoodOnce = 0.2
	// shortStill, in milliseconds: a busy machine makes shorter pauses now and then. shortStills of them are a habit.
	shortStill, shortStills = 200, 3
	// otherCauses: if others may have caused half of a standstill, it is not the server's.
	otherCauses = 0.5
)

// checkStalls marks the latencies of a closed load whose server stood still repeatedly, for garbage collection for
// example. A waiting connection sends nothing, so each stall adds one long latency where users would have met many.
// Latencies from an intended start include stalls. Stalls that the hypervisor, a quota, neighbours or lost segments may
// have caused are not counted.
func checkStalls(f *facts) []Reason {
	share, ok := f.Observed(measured.StillShare)
	few := f.Stills < 2 || f.LongestStill < shortStill && f.Stills < shortStills
	if !ok || share < stoodStill || few && share < stoodOnce || f.Level.RequestsPerSecond > 0 || f.Level.Step > 0 || f.HeldUp() >= otherCauses*share {
		return nil
	}
	return []Reason{{Code: StoodStill, Weight: Suspect, Scope: ScopeLatency, Subject: measured.SubjectServer, Value: share, Limit: stoodStill}}
}
