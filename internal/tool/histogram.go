package tool

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// lowestMicros, highestMicros and digits are the geometry of every record.Latency.
	lowestMicros  = 1
	highestMicros = 3_600_000_000
	digits        = 3
)

// Bin is a number of samples of one latency, in microseconds.
type Bin struct {
	Micros int64
	Count  int64
}

// Bracket is a number of samples of which it is known only that they lie between two latencies, in microseconds.
type Bracket struct {
	LowMicros  int64
	HighMicros int64
	Count      int64
}

// Latency encodes bins as a distribution. A latency of 0 µs, below the histogram's range, is recorded as 1.
func Latency(kind record.LatencyKind, bins []Bin) (record.Latency, error) {
	samples, encoded, err := encode(bins)
	return record.Latency{Kind: kind, Samples: samples, HDR: encoded}, err
}

// Bracketed encodes brackets as the two distributions between which the real one lies.
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
	h := hdrhistogram.New(lowestMicros, highestMicros, digits)
	for _, b := range bins {
		if b.Count < 0 {
			return 0, "", fmt.Errorf("recording %d samples of %d µs: a count cannot be negative", b.Count, b.Micros)
		}
		if err := h.RecordValues(max(b.Micros, lowestMicros), b.Count); err != nil {
			return 0, "", fmt.Errorf("recording %d samples of %d µs: %w", b.Count, b.Micros, err)
		}
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return 0, "", fmt.Errorf("encoding the histogram: %w", err)
	}
	return h.TotalCount(), string(text), nil
}
