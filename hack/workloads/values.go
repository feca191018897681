package main

import (
	"math"

	"loadstone.dev/loadstone/internal/record"
)

// source is where the values of an implementation come from, one a block.
type source struct {
	run, implementation string
	// at and of are of servers under load, test and metric of programs that measure themselves.
	at           record.Point
	of           quantity
	test, metric string
	// evenFailed counts cells, too, that are void because the implementation failed: its failing is what is asked for.
	evenFailed bool
}

// counts reports whether what was seen is of the source, and counts.
func (s source) counts(c sight) bool {
	return c.Implementation == s.implementation && c.At == s.at && (len(c.Void) == 0 || s.evenFailed && c.Failed)
}

// value is what the source takes of what was seen; NaN where it is not there.
func (s source) value(c sight) float64 {
	if s.of != nil {
		return s.of(c)
	}
	if v, ok := c.Cases[s.test][s.metric]; ok {
		return v
	}
	return math.NaN()
}

// values are those that count, by their block.
func (s source) values(r *results) map[int32]float64 {
	out := map[int32]float64{}
	for _, c := range r.sights {
		if v := s.value(c); s.counts(c) && !math.IsNaN(v) {
			out[c.Block] = v
		}
	}
	return out
}

// bound reports whether the load generator was at its limit in each cell of a source that counts.
func (s source) bound(r *results) bool {
	var counting, bound int
	for _, c := range r.sights {
		if s.counts(c) {
			counting++
			if c.GeneratorAtLimit {
				bound++
			}
		}
	}
	return counting > 0 && bound == counting
}

// quantity is a number that is made of what was seen of a cell; NaN where a part of it is missing.
type quantity func(sight) float64

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// cpuPerRequest is in microseconds.
func cpuPerRequest(s sight) float64 {
	if s.CPUNanos <= 0 || s.Requests <= 0 {
		return math.NaN()
	}
	return float64(s.CPUNanos) / 1e3 / float64(s.Requests+s.AgentRequests)
}

// throughput is no number of a cell in which the load generator was at its limit: it is the generator's then.
func throughput(s sight) float64 {
	if s.GeneratorAtLimit {
		return math.NaN()
	}
	return rate(s)
}

// rate is how many requests a second the tool made.
func rate(s sight) float64 {
	if s.Requests <= 0 || s.LoadNanos <= 0 {
		return math.NaN()
	}
	return float64(s.Requests) / (float64(s.LoadNanos) / 1e9)
}

func fairness(s sight) float64 { return known(s.Jain) }

// contextSwitches is how often the threads of the server were switched, for a request.
func contextSwitches(s sight) float64 {
	if s.ContextSwitches <= 0 || s.Requests <= 0 {
		return math.NaN()
	}
	return float64(s.ContextSwitches) / float64(s.Requests+s.AgentRequests)
}

// unanswered is the number of connections that got no answer.
func unanswered(s sight) float64 {
	if s.Unanswered == nil {
		return math.NaN()
	}
	return float64(*s.Unanswered)
}

// memoryGrowth is the resident memory at the end by that at the start of the measured time.
func memoryGrowth(s sight) float64 {
	if s.RSSStartBytes <= 0 {
		return math.NaN()
	}
	return float64(s.RSSBytes) / float64(s.RSSStartBytes)
}

// p99 is that of the cell's own requests, in microseconds, as the tool measured them.
func p99(s sight) float64 {
	if s.P99Micros <= 0 {
		return math.NaN()
	}
	return float64(s.P99Micros)
}
