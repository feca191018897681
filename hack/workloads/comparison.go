package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

// comparison defines a figure: for each block, the product of the values in over, divided by that of under. All are of one run.
type comparison struct {
	name        string
	over, under []source
	unit        string
	take        take
	aim         figures.Aim
}

// take says how the blocks' values become one number.
type take int

const (
	theMean take = iota
	theLowest
	theHighest
)

func (c comparison) run() string { return c.over[0].run }

// Why a run could not answer the question of a figure. That is a result, not a failure to measure.
const (
	generatorsLimit = "the load generator was at its limit in each cell of at least one side"
	generatorsQueue = "requests waited in the load generator in each cell of at least one side"
	sharedCPU       = "processes did not own the CPUs that the run asks for"
)

// unanswerable reports whether a figure is missing because its run could not pose the question.
func unanswerable(f figures.Figure) bool {
	return slices.Contains([]string{generatorsLimit, generatorsQueue, sharedCPU}, f.Missing)
}

func (c comparison) figure(r *results) figures.Figure {
	f := figures.Figure{Name: c.name, Unit: c.unit, Aim: c.aim, Missing: r.missing}
	if f.Missing != "" {
		return f
	}
	values := c.values(r)
	notes := []string{fmt.Sprintf("n=%d", len(values))}
	if planned := int(r.head.Blocks); len(values) < planned {
		notes[0] += fmt.Sprintf(" of %d", planned)
	}
	switch {
	case len(values) == 0:
		f.Missing = cmp.Or(c.obstacle(r), "no block has all of its values")
		return f
	case c.take == theMean:
		i, err := figures.Geometric(values)
		if err != nil {
			f.Missing = err.Error()
			return f
		}
		f.Value, f.Interval = i.Mean, i
		notes = append(notes, i.String())
	case c.take == theLowest:
		f.Value = slices.Min(values)
	case c.take == theHighest:
		f.Value = slices.Max(values)
	}
	if c.take != theMean && len(values) > 1 {
		notes = append(notes, fmt.Sprintf("%.4g to %.4g", slices.Min(values), slices.Max(values)))
	}
	f.Note = strings.Join(notes, ", ")
	return f
}

// obstacle says why the cells of a source do not count, if it is the same for all of them.
func (c comparison) obstacle(r *results) string {
	for _, s := range slices.Concat(c.over, c.under) {
		var why []string
		for _, seen := range r.sights {
			if s.counts(seen) {
				why = append(why, s.obstacle(seen))
			}
		}
		slices.Sort(why)
		if why = slices.Compact(why); len(why) == 1 && why[0] != "" {
			return why[0]
		}
	}
	return ""
}

// values has a value for each complete block, in order.
func (c comparison) values(r *results) []float64 {
	var parts []map[int32]float64
	for _, s := range slices.Concat(c.over, c.under) {
		parts = append(parts, s.values(r))
	}
	var out []float64
	last := r.head.Blocks + r.head.RepeatBlocks
	for block := int32(1); block <= last; block++ {
		product, complete := 1.0, true
		for i, part := range parts {
			v, ok := part[block]
			complete = complete && ok && (v > 0 || c.take != theMean)
			if i < len(c.over) {
				product *= v
			} else {
				product /= v
			}
		}
		if complete {
			out = append(out, product)
		}
	}
	return out
}

// source says which values of an implementation are used, one per block.
type source struct {
	run, implementation string
	// Servers under load have at and of; programs that measure themselves have test and metric.
	at           record.Point
	of           quantity
	test, metric string
	// throughput and latency say which question it is: the state of the load generator decides whether a cell can answer that.
	throughput, latency bool
	// evenFailed includes cells that are void because the implementation failed, because that failure is the measured value.
	evenFailed bool
}

func (s source) counts(c sight) bool {
	return c.Implementation == s.implementation && c.At == s.at && (len(c.Void) == 0 || s.evenFailed && c.Failed)
}

// obstacle says why a cell cannot answer the question of the source.
func (s source) obstacle(c sight) string {
	switch {
	case s.throughput && c.GeneratorAtLimit:
		return generatorsLimit
	case s.latency && slices.Contains(c.Suspect, validity.QueueInGenerator):
		return generatorsQueue
	case s.of == nil && slices.Contains(c.Suspect, validity.NotPinned):
		return sharedCPU
	}
	return ""
}

// value returns NaN if the value is missing, or the cell cannot tell it.
func (s source) value(c sight) float64 {
	if s.obstacle(c) != "" {
		return math.NaN()
	}
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

type quantity func(sight) float64

// quantities are the columns of table.tsv. The script hack/workloads.sh records the rest: system calls (perf, under wrk), connections per thread,
// program sizes, and the time to the first answer.
var quantities = map[string]quantity{
	"cpuPerRequest":   cpuPerRequest,
	"throughput":      rate,
	"fairness":        func(s sight) float64 { return known(s.Jain) },
	"contextSwitches": func(s sight) float64 { return per(s.ContextSwitches, s.requests()) },
	"unanswered":      unanswered,
	"memoryGrowth":    func(s sight) float64 { return per(s.RSSBytes, float64(s.RSSStartBytes)) },
	"p99":             func(s sight) float64 { return per(s.P99Micros, 1) },
	"systemCalls":     func(s sight) float64 { return per(s.SystemCalls, float64(s.Requests)) },
	"busierShare":     func(s sight) float64 { return per(s.BusierShare, 1) },
	"startMillis":     func(s sight) float64 { return per(s.StartNanos, 1e6) },
	"programKiB":      func(s sight) float64 { return per(s.ProgramBytes, 1024) },
}

// per is a / b; NaN if either is missing.
func per[A int64 | float64](a A, b float64) float64 {
	if a <= 0 || b <= 0 {
		return math.NaN()
	}
	return float64(a) / b
}

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (s sight) requests() float64 {
	if s.Requests <= 0 {
		return 0
	}
	return float64(s.Requests + s.AgentRequests)
}

// cpuPerRequest is in microseconds.
func cpuPerRequest(s sight) float64 { return per(float64(s.CPUNanos)/1e3, s.requests()) }

func rate(s sight) float64 { return per(s.Requests, float64(s.LoadNanos)/1e9) }

// unanswered is the number of connections without an answer.
func unanswered(s sight) float64 {
	if s.Unanswered == nil {
		return math.NaN()
	}
	return float64(*s.Unanswered)
}
