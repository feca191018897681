package tool

import (
	"fmt"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// Bin is a number of samples of one latency, in microseconds.
type Bin struct {
	Micros int64
	Count  int64
}

// Bracket is a number of samples between two latencies, in microseconds.
type Bracket struct {
	LowMicros  int64
	HighMicros int64
	Count      int64
}

// Latency encodes bins as a distribution. 0 µs is below the histogram's range and becomes 1.
func Latency(kind record.LatencyKind, bins []Bin) (record.Latency, error) {
	samples, encoded, err := encode(bins)
	return record.Latency{Kind: kind, Samples: samples, HDR: encoded}, err
}

// Bracketed encodes brackets as two distributions that enclose the real one.
func Bracketed(kind record.LatencyKind, brackets []Bracket) (record.Latency, error) {
	low, high := make([]Bin, len(brackets)), make([]Bin, len(brackets))
	for i, b := range brackets {
		if b.LowMicros > b.HighMicros {
			return record.Latency{}, fmt.Errorf("recording %d samples between %d µs and %d µs: the bracket is upside down", b.Count, b.LowMicros, b.HighMicros)
		}
		low[i], high[i] = Bin{Micros: b.LowMicros, Count: b.Count}, Bin{Micros: b.HighMicros, Count: b.Count}
	}
	samples, encodedLow, err := encode(low)
	if err != nil {
		return record.Latency{}, err
	}
	_, encodedHigh, err := encode(high)
	return record.Latency{Kind: kind, Samples: samples, HDR: encodedLow, HDRHigh: encodedHigh}, err
}

func encode(bins []Bin) (samples int64, encoded string, err error) {
	var h histogram.Histogram
	for _, b := range bins {
		if err := h.Record(b.Micros, b.Count); err != nil {
			return 0, "", err
		}
	}
	encoded, err = h.Encode()
	return h.Samples(), encoded, err
}

// PrintedQuantile is the latency in microseconds below which the share Q of samples lies.
type PrintedQuantile struct {
	Q      float64          `json:"q"`
	Micros printed.Quantity `json:"micros"`
}

// PrintedLatency is a printed distribution in microseconds. Values not printed are nil.
type PrintedLatency struct {
	Kind      record.LatencyKind `json:"kind"`
	Mean      *printed.Quantity  `json:"mean,omitempty"`
	SD        *printed.Quantity  `json:"sd,omitempty"`
	Min       *printed.Quantity  `json:"min,omitempty"`
	Max       *printed.Quantity  `json:"max,omitempty"`
	Median    *printed.Quantity  `json:"median,omitempty"`
	Quantiles []PrintedQuantile  `json:"quantiles,omitempty"`
	// ResolutionMicros is a fixed printing step; 0 if the tool prints enough digits.
	ResolutionMicros float64 `json:"resolutionMicros,omitempty"`
}
