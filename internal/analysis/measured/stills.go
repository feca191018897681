package measured

import "math"

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
func (f *Facts) observeStills() {
	perInterval := float64(f.Requests) / (f.LoadSeconds * 1e3) * float64(f.series.everyMillis)
	if f.Level.RampToRequestsPerSecond > 0 || perInterval < stillRequests {
		return
	}
	latency := f.MeanLatency
	if latency == nil {
		latency = positive(float64(f.Level.InFlight()) / float64(f.Requests) * f.LoadSeconds * 1e6)
	}
	least := stillIntervals
	if latency != nil {
		least = max(least, int(math.Ceil(stillLatencies**latency/1e3/float64(f.series.everyMillis))))
	}
	var share float64
	f.Stills, share = f.series.still(least)
	f.note(StillShare, share)
}

// HeldUp is the largest share of the load for which others can have held up the server or its load.
func (f *Facts) HeldUp() float64 {
	var lost, generators float64
	for _, r := range f.Runs {
		if r == nil {
			continue
		}
		lost += float64(r.Network.Retransmits)
		if r.CoreNanos > 0 {
			generators = max(generators, float64(r.StealNanos+max(r.BusyNanos-r.CPUNanos, 0))/float64(r.CoreNanos))
		}
	}
	share := f.Steal() + f.Observations[NeighbourShare] + generators
	if f.Seen == nil || f.LoadSeconds <= 0 {
		return share
	}
	lost += float64(f.Seen.Network.Retransmits)
	return share + f.Throttled() + lost*resendSeconds/float64(max(f.Level.Connections, 1))/f.LoadSeconds
}
