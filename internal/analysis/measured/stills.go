package measured

import "math"

const (
	// standstill: below a tenth of the cell's mean, hardly an answer left in that interval.
	standstill = 0.1
	// stillIntervals: a single interval may be a late sample, or half of a pause that no client notices.
	stillIntervals = 2
	// stillLatencies: connections that began together wait together, so a server that needs half a second per answer
	// is still in between. A real stall is longer than several of its latencies.
	stillLatencies = 4
	// stillRequests: with so many requests on average, chance leaves an interval below a tenth of them once in ten
	// million.
	stillRequests = 20
	// resendSeconds is the kernel's default minimum wait before it resends a lost segment.
	resendSeconds = 0.2
)

// still returns the number of standstills with at least the given length, and their share of all intervals.
//
// A delayed observer reads late: one interval holds too much and the next ones hold nothing. So an interval that
// makes up for half of the standstill after it excuses it; a stalled server catches up only afterwards. A standstill
// from the first interval on may be either, and is ignored.
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

// observeStills skips ramps, which begin with little, and cells with so few requests that it may be chance. Pauses
// that the observer saw replace the stretches of the series, which are five times as coarse.
func (f *Facts) observeStills() {
	perMilli := float64(f.Requests) / (f.LoadSeconds * 1e3)
	if f.Level.RampToRequestsPerSecond > 0 {
		return
	}
	latency := f.MeanLatency
	if latency == nil {
		latency = positive(float64(f.Level.InFlight()) / perMilli * 1e3)
	}
	least := 0.0
	if latency != nil {
		least = stillLatencies * *latency / 1e3
	}
	switch every := float64(f.series.everyMillis); {
	case f.Seen.Pauses != nil:
		f.observePauses(least, perMilli)
	case perMilli*every >= stillRequests:
		var share float64
		f.Stills, share = f.series.still(max(stillIntervals, int(math.Ceil(least/every))))
		f.LongestStill = math.Inf(1)
		f.note(StillShare, share)
	}
}

// observePauses counts the pauses of at least a length, in milliseconds. Connections open and end near the ends of the
// load, so what begins or ends there is no pause.
func (f *Facts) observePauses(least, requestsPerMilli float64) {
	edge := float64(f.series.everyMillis)
	inner := f.LoadSeconds*1e3 - 2*edge
	var sum float64
	for i, millis := range f.Seen.Pauses.Millis {
		at, took := float64(f.Seen.Pauses.AtMillis[i]), float64(millis)
		if at < edge || at+took > edge+inner || took < least || took*requestsPerMilli < stillRequests {
			continue
		}
		f.Stills, sum, f.LongestStill = f.Stills+1, sum+took, max(f.LongestStill, took)
	}
	f.note(StillShare, sum/inner)
}

// HeldUp returns the largest share of the load that others may have delayed.
func (f *Facts) HeldUp() float64 {
	var lost float64
	for _, r := range f.Runs {
		if r != nil {
			lost += float64(r.Network.Retransmits)
		}
	}
	share := f.Steal() + f.Observations[NeighbourShare] + f.takenFromGenerators()
	if f.Seen == nil || f.LoadSeconds <= 0 {
		return share
	}
	lost += float64(f.Seen.Network.Retransmits)
	return share + f.Throttled() + lost*resendSeconds/float64(max(f.Level.Connections, 1))/f.LoadSeconds
}

// takenFromGenerators returns the largest share of a generator's CPUs that others used.
func (f *Facts) takenFromGenerators() float64 {
	share := 0.0
	for _, r := range f.Runs {
		if r != nil && r.CoreNanos > 0 {
			share = max(share, float64(r.StealNanos+max(r.BusyNanos-r.CPUNanos, 0))/float64(r.CoreNanos))
		}
	}
	return share
}

// mostTaken bounds shares of taken time, whose clocks are not exact.
const mostTaken = 0.99

// Taken returns the log of the largest slowdown that others' use of the server's and the generators' CPUs explains.
// Server and generator may wait for their CPUs one after the other.
func (f *Facts) Taken() float64 {
	server := f.Steal() + f.Observations[NeighbourShare] + f.Throttled()
	return -math.Log1p(-min(server, mostTaken)) - math.Log1p(-min(f.takenFromGenerators(), mostTaken))
}
