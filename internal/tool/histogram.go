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

// Latency encodes bins as a distribution. A latency of 0 µs, below the histogram's range, is recorded as 1.
func Latency(kind record.LatencyKind, bins []Bin) (record.Latency, error) {
	h := hdrhistogram.New(lowestMicros, highestMicros, digits)
	for _, b := range bins {
		if b.Count < 0 {
			return record.Latency{}, fmt.Errorf("recording %d samples of %d µs: a count cannot be negative", b.Count, b.Micros)
		}
		if err := h.RecordValues(max(b.Micros, lowestMicros), b.Count); err != nil {
			return record.Latency{}, fmt.Errorf("recording %d samples of %d µs: %w", b.Count, b.Micros, err)
		}
	}
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return record.Latency{}, fmt.Errorf("encoding the histogram: %w", err)
	}
	return record.Latency{Kind: kind, Samples: h.TotalCount(), HDR: string(encoded)}, nil
}
