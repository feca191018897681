package validity

import "loadstone.dev/loadstone/internal/analysis/measured"

const (
	// workSlower: on a machine with seven runnable tasks on two CPUs the same work, 50 ms apart, differed by 1.4 % in the median, and by
	// more than a fifth, to either side, in 22 of 798 pairs.
	workSlower = 0.2
	// frequencyFell: a tenth less is another machine, as a tenth less of the rate is another load. It is asked of a CPU that is at work
	// for half of the time at least: an idle one sets its clock as it likes.
	frequencyFell, busyCPU = 0.1, 0.5
)

// checkSpeed looks whether the server's CPU is as fast at the end of a cell as at its beginning. A CPU that becomes faster has been idle:
// only one that becomes slower has been throttled, or has a neighbour on its core.
func checkSpeed(f *facts) []Reason {
	var out []Reason
	if before, after, ok := f.Worked(); ok && after/before-1 > workSlower {
		out = append(out, Reason{Code: CPUSlower, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: after/before - 1, Limit: workSlower})
	}
	// Of CPUs that the server does not own some are idle, and slow for that.
	busy := f.Pinning.ServerPinned && f.Level.RampToRequestsPerSecond == 0 && f.ServerUtilisation() >= busyCPU
	if first, last, ok := f.Frequencies(); ok && busy && 1-last/first > frequencyFell {
		out = append(out, Reason{Code: FrequencyFell, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: 1 - last/first, Limit: frequencyFell})
	}
	return out
}

// checkMeasuredAudit looks at what an agent saw of the answers while they were measured. One that never came is marked and no more: these
// are few requests, on a connection beyond those of the level.
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
