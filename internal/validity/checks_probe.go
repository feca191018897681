package validity

import (
	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// workSlower: on a machine with seven runnable tasks on two CPUs the same work, 50 ms apart, differed by 1.4 % in the median, and by
	// more than a fifth, to either side, in 22 of 798 pairs.
	workSlower = 0.2
	// frequencyFell: a tenth less is another machine, as a tenth less of the rate is another load. It is asked of a CPU that is at work
	// for half of the time at least: an idle one sets its clock as it likes.
	frequencyFell, busyCPU = 0.1, 0.5
)

// worked is the CPU time of the fixed work before and after the cell; false if it was not done both times. In a duet one observer does it
// for both servers.
func (f *facts) worked() (before, after float64, ok bool) {
	for _, o := range []*record.CellObservation{f.seen, f.peer} {
		if o != nil && o.WorkBefore != nil && o.WorkAfter != nil && o.WorkBefore.CPUNanos > 0 {
			return float64(o.WorkBefore.CPUNanos), float64(o.WorkAfter.CPUNanos), true
		}
	}
	return 0, 0, false
}

// checkSpeed looks whether the server's CPU is as fast at the end of a cell as at its beginning. A CPU that becomes faster has been idle:
// only one that becomes slower has been throttled, or has a neighbour on its core.
func checkSpeed(f *facts) []Reason {
	var out []Reason
	if before, after, ok := f.worked(); ok && after/before-1 > workSlower {
		out = append(out, Reason{Code: CPUSlower, Weight: Suspect, Scope: ScopeCell, Subject: SubjectServer, Value: after/before - 1, Limit: workSlower})
	}
	// Of CPUs that the server does not own some are idle, and slow for that.
	busy := f.cell.Pinning.ServerPinned && f.level.RampToRequestsPerSecond == 0 && f.serverUtilisation() >= busyCPU
	if first, last, ok := f.frequencies(); ok && busy && 1-last/first > frequencyFell {
		out = append(out, Reason{Code: FrequencyFell, Weight: Suspect, Scope: ScopeCell, Subject: SubjectServer, Value: 1 - last/first, Limit: frequencyFell})
	}
	return out
}

// frequencies are the means of the server's CPUs over the first and the last third of the measured time, in kHz; false if they are unknown.
func (f *facts) frequencies() (first, last float64, ok bool) {
	kHz := f.kHz()
	third := len(kHz) / 3
	if len(kHz) < minIntervals {
		return 0, 0, false
	}
	first, _ = inference.Moments(kHz[:third])
	last, _ = inference.Moments(kHz[len(kHz)-third:])
	return first, last, first > 0
}

// kHz is the frequency in each interval of the measured time.
func (f *facts) kHz() []float64 {
	if f.seen == nil || f.seen.Series == nil || f.seen.Series.EveryMillis <= 0 {
		return nil
	}
	var out []float64
	whole := int(f.cell.LoadSeconds * 1e3 / float64(f.seen.Series.EveryMillis))
	for _, v := range f.seen.Series.KHz[:min(whole, len(f.seen.Series.KHz))] {
		out = append(out, float64(v))
	}
	return out
}

// audited are the answers that an agent read beside the measured load, and the connections that it opened for them.
func (f *facts) audited() record.Audit {
	var all record.Audit
	for _, r := range f.runs {
		if r == nil || r.MeasuredAudit == nil {
			continue
		}
		all.Requests += r.MeasuredAudit.Requests
		all.WrongStatus += r.MeasuredAudit.WrongStatus
		all.WrongBody += r.MeasuredAudit.WrongBody
		all.Failed += r.MeasuredAudit.Failed
		all.Connections += r.MeasuredAudit.Connections
		if all.Example == "" {
			all.Example = r.MeasuredAudit.Example
		}
	}
	return all
}

// checkMeasuredAudit looks at what an agent saw of the answers while they were measured. One that never came is marked and no more: these
// are few requests, on a connection beyond those of the level.
func checkMeasuredAudit(f *facts) []Reason {
	all := f.audited()
	var out []Reason
	if wrong := all.WrongStatus + all.WrongBody; wrong > 0 {
		out = append(out, Reason{Code: WrongAnswers, Weight: Void, Scope: ScopeCell, Value: float64(wrong), Detail: all.Example})
	}
	if all.Failed > 0 {
		out = append(out, Reason{Code: AuditFailed, Weight: Suspect, Scope: ScopeCell, Value: float64(all.Failed) / float64(max(all.Requests, all.Failed))})
	}
	return out
}
