package lint

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
)

const (
	watch        = "To confirm, repeat the load. At the same time, run: while sleep 0.1; do curl -so /dev/null -w '%{time_total} ' URL; done, and vmstat 1. "
	confirmStall = watch + "curl waits during a stall. With steal (st) or a run queue (r), the machine is the cause. Until then, do not report latencies."
	confirmGap   = watch + "If curl waits too, the server stalls; with steal (st) or a run queue (r), the machine does. If curl never waits, " +
		"use ss -tni to find connections with a growing lastrcv. Until then, do not report latencies."
	confirmUnanswered = "To confirm, repeat the load and run ss -tni. A connection with a growing lastrcv waits for a missing response."
)

// checkStall looks for times without answers, and for a few requests that took most of the time.
func checkStall(s Sample) []Finding {
	switch s.Tool {
	case Wrk:
		return wrkStall(s)
	case AB:
		return abStall(s)
	}
	return nil
}

// wrkStall compares the mean of wrk's Req/Sec with its throughput. Each thread samples its rate every 100 ms, but not while no answer comes; the next
// sample then covers the whole gap. Without gaps, threads x mean is the throughput. Gaps take at least 1 - 1/ratio of the time if the rate between
// them is steady.
func wrkStall(s Sample) []Finding {
	r := s.ThreadRate
	if !s.Counted() || r == nil || r.Value < sampledRate || s.Throughput.Value <= 0 {
		return nil
	}
	together := printed.Quantity{Value: r.Value * float64(s.Threads), Rounding: r.Rounding * float64(s.Threads)}
	ratio := together.Low() / s.Throughput.High()
	if ratio <= stalledRatio || float64(s.Connections)/together.Value > sampledTurn {
		return nil
	}
	return one(Stalled, validity.Suspect, ScopeSample, fmt.Sprintf("While responses arrived, wrk's threads got %s per second; over the whole run, only %s. So a thread got no response for at least %s of the time. "+
		"Most likely, the server or its machine stalled or left requests unanswered.", number(together.Value), number(s.Throughput.Value), atLeast(1-1/ratio)), confirmGap).with(ratio, stalledRatio)
}

// abStall checks the slowest hundredth of ab's requests: their share of the time, and the largest latency relative to p99.
func abStall(s Sample) []Finding {
	most, p99 := s.Most(), s.P99()
	if !s.Counted() || most == nil || p99 == nil || most.Low() <= stallMicros {
		return nil
	}
	tail := fmt.Sprintf("99 of 100 requests took at most %s, but the slowest took %s", spell(p99.High()), spell(most.Value))
	if share := slowestShare(s, *most, *p99); share > stalledShare {
		return one(Stalled, validity.Suspect, ScopeSample, fmt.Sprintf("%s. The slowest 1%% took at least %s of the total waiting time. "+
			"Most likely, the server or its machine stalled for a while. Otherwise, these requests waited for something specific to them.", tail, atLeast(share)), confirmStall).with(share, stalledShare)
	}
	if ratio := most.Low() / p99.High(); ratio > stalledTail {
		return one(Stalled, validity.Suspect, validity.ScopeLatency, tail+". Most likely, the server or its machine stalled for a moment. Otherwise, a packet was lost and retransmitted.", confirmStall).with(ratio, stalledTail)
	}
	return nil
}

// slowestShare is the least share of all waiting that the requests above p99 can have; 0 if none follows. The squares of the latencies
// add up to n (sd² + mean²). A request at p99 or below adds at most p99 x its latency to that, one above at most most x its latency:
// sd² + mean² <= mean (p99 (1 - share) + most share). The mean is at most N / X, since a connection carries one request at a time.
func slowestShare(s Sample, most, p99 printed.Quantity) float64 {
	l := s.Latency[0]
	if l.SD == nil || l.Mean == nil || most.High() <= p99.High() || s.PerSecond() <= 0 {
		return 0
	}
	mean := min(l.Mean.High(), float64(s.Connections)/s.PerSecond()*1e6)
	if mean <= 0 {
		return 0
	}
	squares := l.SD.Low()*l.SD.Low() + l.Mean.Low()*l.Mean.Low()
	return max((squares/mean-p99.High())/(most.High()-p99.High()), 0)
}

func checkMean(s Sample) []Finding {
	mean, p99, most := s.Mean(), s.P99(), s.Most()
	if !s.Counted() || mean == nil || p99 == nil || most == nil || mean.Low() < p99.High() {
		return nil
	}
	return one(MeanAboveP99, Note, validity.ScopeLatency, fmt.Sprintf("The mean (%s) is above p99 (%s): the slowest 1%% of requests, up to %s, raise the mean but not p99.",
		latency(mean), latency(p99), spell(most.Value)),
		"Report the median and the maximum as well. Neither mean nor p99 is typical or the worst case.")
}

func atLeast(share float64) string { return number(math.Floor(share*100)) + "%" }
