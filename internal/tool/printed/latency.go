package printed

import "loadstone.dev/loadstone/internal/record"

// Quantile is the latency below which the share Q of the samples lies; Micros is in microseconds.
type Quantile struct {
	Q      float64  `json:"q"`
	Micros Quantity `json:"micros"`
}

// Latency is what was printed of one distribution, in microseconds. A value that was not printed is nil.
type Latency struct {
	Kind   record.LatencyKind `json:"kind"`
	Mean   *Quantity          `json:"mean,omitempty"`
	SD     *Quantity          `json:"sd,omitempty"`
	Min    *Quantity          `json:"min,omitempty"`
	Max    *Quantity          `json:"max,omitempty"`
	Median *Quantity          `json:"median,omitempty"`
	// Quantiles are in the order in which they were printed.
	Quantiles []Quantile `json:"quantiles,omitempty"`
	// ResolutionMicros is the step in which the tool prints latencies, whatever their size; 0 where it prints digits enough.
	ResolutionMicros float64 `json:"resolutionMicros,omitempty"`
}
