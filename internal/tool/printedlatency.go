package tool

import (
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
)

// PrintedQuantile is the latency below which the share Q of the samples lies; Micros is in microseconds.
type PrintedQuantile struct {
	Q      float64          `json:"q"`
	Micros printed.Quantity `json:"micros"`
}

// PrintedLatency is what was printed of one distribution, in microseconds. A value that was not printed is nil.
type PrintedLatency struct {
	Kind   record.LatencyKind `json:"kind"`
	Mean   *printed.Quantity  `json:"mean,omitempty"`
	SD     *printed.Quantity  `json:"sd,omitempty"`
	Min    *printed.Quantity  `json:"min,omitempty"`
	Max    *printed.Quantity  `json:"max,omitempty"`
	Median *printed.Quantity  `json:"median,omitempty"`
	// Quantiles are in the order in which they were printed.
	Quantiles []PrintedQuantile `json:"quantiles,omitempty"`
	// ResolutionMicros is the step in which the tool prints latencies, whatever their size; 0 where it prints digits enough.
	ResolutionMicros float64 `json:"resolutionMicros,omitempty"`
}
