package verdict

import (
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Metric names what is compared.
type Metric string

const (
	// CPUPerRequest is the server's CPU time per request; less is better.
	CPUPerRequest Metric = "ServerCPUPerRequest"
	// Throughput is requests per second; more is better. It is not compared at an imposed rate.
	Throughput Metric = "Throughput"
	// Capacity is the highest rate at which a search kept its bound; more is better. Only searches have it.
	Capacity Metric = "Capacity"

	latencyPrefix = "LatencyP"
)

// LatencyAt returns the metric of a latency percentile, such as "99"; less is better.
func LatencyAt(percentile string) Metric { return Metric(latencyPrefix + percentile) }

// Percentile returns the percentile of a latency metric, such as "99"; empty for other metrics.
func (m Metric) Percentile() string {
	percentile, ok := strings.CutPrefix(string(m), latencyPrefix)
	if !ok {
		return ""
	}
	return percentile
}

// MetricOf returns the metric of an objective's ratio.
func MetricOf(of v1alpha1.ComparedMetric, percentile string) Metric {
	if of == v1alpha1.ComparedLatencyPercentile {
		return LatencyAt(percentile)
	}
	return Metric(of)
}

// MoreIsBetter reports whether higher values are better.
func (m Metric) MoreIsBetter() bool { return m == Throughput || m == Capacity }

// pairOf returns the log ratio of two cells of one block; false if either lacks the metric.
func (m Metric) pairOf(own, base validity.Cell) (inference.Span, bool) {
	if own.Validity == validity.Void || base.Validity == validity.Void {
		return inference.Span{}, false
	}
	if m.Percentile() != "" {
		return latencyPair(m.Percentile(), own, base)
	}
	a, b := own.Throughput, base.Throughput
	if m == CPUPerRequest {
		a, b = own.CPUPerRequest, base.CPUPerRequest
	}
	if a == nil || b == nil {
		return inference.Span{}, false
	}
	return inference.LogRatio(m.undisturbed(*a, own.Slack), m.undisturbed(*b, base.Slack)), true
}

// undisturbed is where a value may lie without its cell's disturbance. Taken CPUs only lower a throughput. What they do
// to the CPU time (cold caches, a slower hardware thread) has no known sign.
func (m Metric) undisturbed(v, slack float64) inference.Span {
	out := inference.Span{Low: v, Mid: v, High: v * math.Exp(slack)}
	if m != Throughput {
		out.Low = v * math.Exp(-slack)
	}
	return out
}

// latencyPair compares a percentile of the first kind of latency that both cells have; kinds are never mixed. Each
// value is a range: its histogram bin, or between the tool's quantiles.
func latencyPair(percentile string, own, base validity.Cell) (inference.Span, bool) {
	for _, kind := range measured.Preferred {
		a, b := own.Quantile(kind, percentile), base.Quantile(kind, percentile)
		if a == nil || b == nil {
			continue
		}
		if a.Micros == nil || b.Micros == nil {
			return inference.Span{}, false
		}
		return inference.LogRatio(spanOf(*a), spanOf(*b)), true
	}
	return inference.Span{}, false
}

// censoredIn reports whether a cell's percentile lies among requests that timed out or were never sent. It is worse
// than any known value, so a side wins by none of the blocks in which it has one.
func (m Metric) censoredIn(c validity.Cell) bool {
	if c.Validity == validity.Void {
		return false
	}
	for _, kind := range measured.Preferred {
		if q := c.Quantile(kind, m.Percentile()); q != nil {
			return q.Unknown == measured.TimedOut || q.Unknown == measured.NotSent
		}
	}
	return false
}

// leastMicros stands for a latency in the bin that begins at 0, whose log would be infinite.
const leastMicros = 0.5

func spanOf(q measured.Quantile) inference.Span {
	low, high := q.Edges()
	low = max(low, leastMicros)
	return inference.Span{Low: low, Mid: math.Sqrt(low * high), High: high}
}

// uncountedIn reports whether a cell's CPU time is unknown because some processes could not be counted.
func (m Metric) uncountedIn(c validity.Cell) bool {
	return m == CPUPerRequest && c.Validity != validity.Void && slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == validity.CPUUncounted })
}

// ClosedLoop reports whether a metric is a latency under a closed load. There a waiting connection sends nothing, so
// a pause adds one long latency where users would have met many. Its mean is connections / throughput.
func ClosedLoop(m Metric, l planned.Level) bool { return m.Percentile() != "" && !l.Imposed() }

// boundCodes make a value a bound, or dilute it. The rules of bounds cover them.
var boundCodes = []validity.Code{validity.GeneratorLimited, validity.GeneratorBusy}

// Doubts returns the codes that make a cell suspect in this metric, other than a busy generator.
func (m Metric) Doubts(c validity.Cell) []validity.Code {
	var out []validity.Code
	for _, r := range c.Reasons {
		ofLoad := r.Scope == validity.ScopeLoad && m != CPUPerRequest || r.Scope == validity.ScopeLatency && m.Percentile() != ""
		if r.Weight == validity.Suspect && !slices.Contains(boundCodes, r.Code) && (r.Scope == validity.ScopeCell || ofLoad) {
			out = append(out, r.Code)
		}
	}
	return out
}

// boundIn reports whether the generator made a cell's value a bound: a throughput is then at least, a latency at
// most, what was measured. A busy generator without a limit dilutes a throughput.
func (m Metric) boundIn(c validity.Cell) bool {
	switch {
	case m == Throughput:
		return c.ThroughputIsBound
	case m.Percentile() != "":
		return c.Waited()
	}
	return false
}

// dilutedIn reports whether two cells differ less than their servers. A shared busy generator draws the throughput
// ratio toward 1. So does taking turns, since requests in flight at the end of a turn are served in the other's.
func (m Metric) dilutedIn(c validity.Cell) bool { return m == Throughput && c.ThroughputIsDiluted }

// tail are the percentiles that a tool's own pauses reach.
var tail = []string{"95", "99", "99.9"}

// hiddenIn reports whether the tool's pauses may hide a difference in latencies from the intended start: two tails
// within reach of the pauses do not show equal servers.
func (m Metric) hiddenIn(c validity.Cell) bool {
	q := c.Quantile(record.FromIntended, m.Percentile())
	return q != nil && q.Micros != nil && slices.Contains(tail, m.Percentile()) && *q.Micros < c.PauseMicros
}
