package tool_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

func TestLatency(t *testing.T) {
	tests := map[string]struct {
		bins        []tool.Bin
		wantSamples int64
		wantMin     int64
		wantMax     int64
		wantError   bool
	}{
		"an empty distribution has no samples":            {},
		"bins keep their counts":                          {bins: []tool.Bin{{Micros: 10, Count: 3}, {Micros: 1000, Count: 2}}, wantSamples: 5, wantMin: 10, wantMax: 1000},
		"a latency of nothing counts as one microsecond":  {bins: []tool.Bin{{Micros: 0, Count: 4}}, wantSamples: 4, wantMin: 1, wantMax: 1},
		"a negative count is refused":                     {bins: []tool.Bin{{Micros: 10, Count: -1}}, wantError: true},
		"a latency of more than the range is refused":     {bins: []tool.Bin{{Micros: 8_000_000_000, Count: 1}}, wantError: true},
		"the largest latency of the range can be encoded": {bins: []tool.Bin{{Micros: 3_600_000_000, Count: 1}}, wantSamples: 1, wantMin: 3_600_000_000, wantMax: 3_600_000_000},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tool.Latency(record.Observed, tc.bins)
			if (err != nil) != tc.wantError {
				t.Fatalf("Latency() error = %v, want an error: %v", err, tc.wantError)
			}
			if err != nil {
				return
			}
			h, err := histogram.Decode(got.HDR)
			if err != nil {
				t.Fatalf("decoding what was encoded: %v", err)
			}
			if got.Kind != record.Observed || got.Samples != tc.wantSamples || h.Samples() != tc.wantSamples {
				t.Errorf("got kind %s, %d samples, %d in the histogram; want %d", got.Kind, got.Samples, h.Samples(), tc.wantSamples)
			}
			if tc.wantSamples == 0 {
				return
			}
			if h.Min() != histogram.BinOf(tc.wantMin).Low || h.Max() != histogram.BinOf(tc.wantMax).High {
				t.Errorf("got min %d, max %d; want %d, %d", h.Min(), h.Max(), tc.wantMin, tc.wantMax)
			}
		})
	}
}
