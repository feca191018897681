package measured

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// Distribution is a merged distribution: the histograms of one kind of all blocks and generators, added bucket by bucket.
type Distribution struct {
	Kind record.LatencyKind `json:"kind"`
	// Cells is the number of cells in it.
	Cells   int   `json:"cells"`
	Samples int64 `json:"samples"`
	// Timeouts are requests that took longer than the tool waits: they rank above all samples, at an unknown value. So do the
	// Dropped, which an arrival rate wanted and which were never sent.
	Timeouts int64 `json:"timeouts"`
	Dropped  int64 `json:"dropped,omitempty"`
	// MeanLowMicros is the lower end of the mean, of which MeanMicros is then the upper end; nil where samples are known exactly.
	MeanLowMicros *float64   `json:"meanLowMicros,omitempty"`
	MeanMicros    float64    `json:"meanMicros"`
	MaxMicros     int64      `json:"maxMicros"`
	Quantiles     []Quantile `json:"quantiles"`
	// Curve samples the whole distribution for a picture: it holds only quantiles that are known.
	Curve []Quantile `json:"curve"`
}

// Quantile is one quantile of a distribution. Micros is nil when it is unknown, and Unknown says why. Where LowMicros is set the
// quantile is known to lie between the two; otherwise it is Micros, to the resolution of the histogram.
type Quantile struct {
	Q         float64 `json:"q"`
	LowMicros *int64  `json:"lowMicros,omitempty"`
	Micros    *int64  `json:"micros,omitempty"`
	Unknown   Unknown `json:"unknown,omitempty"`
}

// Unknown is why a quantile is unknown.
type Unknown string

const (
	// TooFewSamples means that fewer than 10 / (1 - q) samples exist.
	TooFewSamples Unknown = "TooFewSamples"
	// TimedOut means that the quantile lies among requests that timed out.
	TimedOut Unknown = "TimedOut"
	// NotSent means that the quantile lies among requests that an arrival rate wanted and that were not sent.
	NotSent Unknown = "NotSent"
)

// Preferred are the kinds in the order in which a percentile prefers them: from the intended start where the load has one.
var Preferred = []record.LatencyKind{record.FromIntended, record.Observed, record.WithConnection, record.Corrected}

// Between are the values between which a known quantile lies, in microseconds.
func (q Quantile) Between() (low, high float64) {
	low, high = float64(*q.Micros), float64(*q.Micros)
	if q.LowMicros != nil {
		low = float64(*q.LowMicros)
	}
	return low, high
}

// Edges are the bounds of the bins of a known quantile, in microseconds: the lower edge of its bin, or of the lower quantile's, and the upper
// edge.
func (q Quantile) Edges() (low, high float64) {
	last := *q.Micros
	low, high = float64(histogram.BinOf(last).Low), float64(last+1)
	if q.LowMicros != nil {
		low = float64(*q.LowMicros)
	}
	return low, high
}
