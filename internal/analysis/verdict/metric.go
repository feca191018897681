package verdict

import (
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Metric names what is compared.
type Metric string

const (
	// CPUPerRequest is the server's CPU time per request: less is better.
	CPUPerRequest Metric = "ServerCPUPerRequest"
	// Throughput is requests per second: more is better. At an imposed rate it is no answer, and is not compared.
	Throughput Metric = "Throughput"
	// Capacity is the highest rate that a search found to keep its bound: more is better. It is compared of searches only.
	Capacity Metric = "Capacity"

	latencyPrefix = "LatencyP"
)

// LatencyAt is the metric of a latency percentile, such as "99": less is better.
func LatencyAt(percentile string) Metric { return Metric(latencyPrefix + percentile) }

// Percentile is that of a latency metric, such as "99"; empty for any other metric.
func (m Metric) Percentile() string {
	percentile, ok := strings.CutPrefix(string(m), latencyPrefix)
	if !ok {
		return ""
	}
	return percentile
}

// MetricOf is the metric that an objective's ratio is of.
func MetricOf(of v1alpha1.ComparedMetric, percentile string) Metric {
	if of == v1alpha1.ComparedLatencyPercentile {
		return LatencyAt(percentile)
	}
	return Metric(of)
}

// MoreIsBetter says in which direction a metric is good.
func (m Metric) MoreIsBetter() bool { return m == Throughput || m == Capacity }

// pairOf is the log of the ratio of two cells of one block in a metric; false if either lacks it.
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
	return inference.LogRatio(inference.Exactly(*a), inference.Exactly(*b)), true
}

// latencyPair compares a percentile of the first kind of latency that both cells have: kinds are never mixed. Each value lies
// somewhere in its histogram's bin, or between the quantiles that the tool gave.
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

// censoredIn reports whether a cell's percentile lies among requests that timed out or were never sent: it is worse than any that is known, so
// that a side wins by none of the blocks in which it has one.
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

// leastMicros stands for a latency in the bin from 0 on, whose log would be infinite.
const leastMicros = 0.5

// spanOf is where a known quantile lies, in microseconds.
func spanOf(q measured.Quantile) inference.Span {
	low, high := q.Edges()
	low = max(low, leastMicros)
	return inference.Span{Low: low, Mid: math.Sqrt(low * high), High: high}
}

// boundIn reports whether a cell's value is only a bound in a metric, because the generator was the bottleneck or too busy: a throughput is then
// at least, and a latency at most, what was measured. Without a limit but with a busy generator a throughput is diluted.
func (m Metric) boundIn(c validity.Cell) bool {
	switch {
	case m == Throughput:
		return c.ThroughputIsBound
	case m.Percentile() != "":
		return c.Waited()
	}
	return false
}

// dilutedIn reports whether two cells differ less in a metric than their servers do: the throughput of a pair that shares a busy generator
// is drawn to 1, and so is that of two servers that take turns, since what is under way when a turn ends is served in the other's.
func (m Metric) dilutedIn(c validity.Cell) bool { return m == Throughput && c.ThroughputIsDiluted }

// tail are the percentiles that a tool's own pauses reach.
var tail = []string{"95", "99", "99.9"}

// hiddenIn reports whether the tool's own pauses may hide a difference between servers in a metric: two tails of latencies from the intended start that
// such pauses can reach do not show that servers are alike.
func (m Metric) hiddenIn(c validity.Cell) bool {
	q := c.Quantile(record.FromIntended, m.Percentile())
	return q != nil && q.Micros != nil && slices.Contains(tail, m.Percentile()) && *q.Micros < c.PauseMicros
}
