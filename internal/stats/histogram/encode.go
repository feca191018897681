package histogram

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Encode is the histogram as it is stored.
func (h *Histogram) Encode() (string, error) {
	text, err := hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: lowestMicros, HighestTrackableValue: HighestMicros, SignificantFigures: digits, Counts: h.counts,
	}).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encoding the histogram: %w", err)
	}
	return string(text), nil
}
