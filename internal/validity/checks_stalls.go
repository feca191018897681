package validity

import (
	"math"

	"loadstone.dev/loadstone/internal/inference"
)

const (
	// standstill: an interval with less than a tenth of the cell's mean is one in which hardly an answer left.
	standstill = 0.1
	// stillIntervals: a single interval may be a sample that was taken late, or half of a pause that no client would notice.
	stillIntervals = 2
	// stillLatencies: connections that began together wait together, so that a server which takes half a second for each answer is still
	// in between. A stall is longer than some of its latencies.
	stillLatencies = 4
	// stillRequests: an interval of so many requests on the average has less than a tenth of them by chance once in ten million.
	stillRequests = 20
	// stoodStill is the smallest difference that the verdicts tell apart: a pause of half a second in ten.
	stoodStill = inference.EquivalenceMargin
	// stoodOnce: a single pause is no habit, and a machine that was busy with something else made one of 0.2 s in two of sixteen short
	// cells. One of a fifth of the load is worth a word whoever made it.
	stoodOnce = 0.2
	// otherCauses: a standstill of which half may be somebody else's doing is not the server's.
	otherCauses = 0.5
	// resendSeconds is for how long a connection waits at least until a lost segment is sent again, by the kernel's default.
	resendSeconds = 0.2
)

// still is how many standstills of some length at least there were, and the share of the intervals that belong to them. An observer that was held up reads late: what
// passed in the meantime is then counted in one interval, and the next ones hold nothing. So an interval that makes up for half of the
// standstill after it excuses that, while a server makes up for its own only afterwards. A standstill from the first interval on may be either.
func (s *series) still(least int) (times int, share float64) {
	total, begin := 0, 0
	for begin < len(s.relative) && s.relative[begin] < standstill {
		begin++
	}
	for i := begin + 1; i < len(s.relative); i++ {
		n, lack := 0, 0.0
		for i+n < len(s.relative) && s.relative[i+n] < standstill {
			lack += 1 - s.relative[i+n]
			n++
		}
		if n >= max(least, 1) && s.relative[i-1]-1 < lack/2 {
			times, total = times+1, total+n
		}
		i += n
	}
	return times, float64(total) / float64(len(s.relative))
}

// observeStills notes for which share of the load the server stood still. A ramp begins with little, and of few requests it is chance.
func (f *facts) observeStills() {
	s := f.cell.series
	perInterval := float64(f.cell.Requests) / (f.cell.LoadSeconds * 1e3) * float64(s.everyMillis)
	if f.level.RampToRequestsPerSecond > 0 || perInterval < stillRequests {
		return
	}
	latency := f.cell.MeanLatency
	if latency == nil {
		latency = positive(float64(f.level.Connections) / float64(f.cell.Requests) * f.cell.LoadSeconds * 1e6)
	}
	least := stillIntervals
	if latency != nil {
		least = max(least, int(math.Ceil(stillLatencies**latency/1e3/float64(s.everyMillis))))
	}
	var share float64
	f.stills, share = s.still(least)
	f.note(StillShare, share)
}

// checkStalls marks the latencies of a closed load whose server stood still again and again, for a collection or a compaction say: a
// connection that waits sends nothing, so that each of them adds one long latency where a user would have met many. Throughput and CPU
// time are what they are. Latencies from an intended start contain it, and then it is an observation only. Nobody is accused of what the
// hypervisor, a quota, others on the CPUs or lost segments can have done.
func checkStalls(f *facts) []Reason {
	share, ok := f.cell.seenOf(StillShare)
	if !ok || share < stoodStill || f.stills < 2 && share < stoodOnce || f.level.RequestsPerSecond > 0 || f.level.Step > 0 || f.heldUp() >= otherCauses*share {
		return nil
	}
	return []Reason{{Code: StoodStill, Weight: Suspect, Scope: ScopeLatency, Subject: SubjectServer, Value: share, Limit: stoodStill}}
}

// heldUp is the largest share of the load for which others can have held up the server or its load.
func (f *facts) heldUp() float64 {
	var lost, generators float64
	for _, r := range f.runs {
		if r == nil {
			continue
		}
		lost += float64(r.Network.Retransmits)
		if r.CoreNanos > 0 {
			generators = max(generators, float64(r.StealNanos+max(r.BusyNanos-r.CPUNanos, 0))/float64(r.CoreNanos))
		}
	}
	share := f.stolen() + f.cell.Observations[StrangersShare] + generators
	if f.seen == nil || f.cell.LoadSeconds <= 0 {
		return share
	}
	lost += float64(f.seen.Network.Retransmits)
	share += float64(f.seen.ThrottledNanos) / 1e9 / f.cell.LoadSeconds
	return share + lost*resendSeconds/float64(max(f.level.Connections, 1))/f.cell.LoadSeconds
}
