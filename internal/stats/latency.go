package stats

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loadstone.dev/loadstone/internal/record"
)

// The range and precision of every merged histogram, as in record.Latency: microseconds, 1 µs to 1 hour, 3 digits.
const (
	lowestMicros      = 1
	highestMicros     = 3_600_000_000
	significantDigits = 3
	// samplesBeyond is how many samples must lie above a quantile for it to be known: the estimate of a quantile rests on the
	// samples beyond it, and with ten of them its rank is good to about a third.
	samplesBeyond = 10
	// curveSteps and curveNines are the resolution and the reach of a distribution's curve, in powers of ten of 1 - q.
	curveSteps, curveNines = 12, 5
)

// latencyKinds are the kinds in the order in which the mean latency prefers them.
var latencyKinds = []record.LatencyKind{record.Observed, record.Corrected}

// tableQuantiles are those of the tables.
var tableQuantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(lowestMicros, highestMicros, significantDigits)
}

// mergeEncoded adds an encoded histogram to the one of its kind.
func mergeEncoded(into map[record.LatencyKind]*hdrhistogram.Histogram, l record.Latency) error {
	if l.Kind != record.Observed && l.Kind != record.Corrected {
		return fmt.Errorf("merging histograms: %q is no kind of latency", l.Kind)
	}
	h, err := hdrhistogram.Decode([]byte(l.HDR))
	if err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	if h.TotalCount() != l.Samples {
		return fmt.Errorf("decoding a histogram: it holds %d samples and says %d", h.TotalCount(), l.Samples)
	}
	return mergeInto(into, l.Kind, h)
}

// mergeInto adds a histogram to the one of its kind, bucket by bucket. A value that has no bucket is an error: a distribution
// without its largest values would be worse than none.
func mergeInto(into map[record.LatencyKind]*hdrhistogram.Histogram, kind record.LatencyKind, h *hdrhistogram.Histogram) error {
	if into[kind] == nil {
		into[kind] = newHistogram()
	}
	if dropped := into[kind].Merge(h); dropped > 0 {
		return fmt.Errorf("merging histograms: %d samples lie outside %d µs to %d µs", dropped, lowestMicros, highestMicros)
	}
	return nil
}

// describe makes the tables and the curve of a merged distribution.
func describe(kind record.LatencyKind, h *hdrhistogram.Histogram, timeouts int64) Latency {
	l := Latency{Kind: kind, Samples: h.TotalCount(), Timeouts: timeouts, MeanMicros: h.Mean(), MaxMicros: h.Max(), Curve: []Quantile{}}
	d := newDistribution(h, timeouts)
	for _, q := range tableQuantiles {
		l.Quantiles = append(l.Quantiles, d.quantile(q))
	}
	for step := range curveNines*curveSteps + 1 {
		q := d.quantile(1 - math.Pow(10, -float64(step)/curveSteps))
		if q.Micros != nil {
			l.Curve = append(l.Curve, q)
		}
	}
	return l
}

// distribution is a histogram's buckets with samples, in ascending order.
type distribution struct {
	bars []hdrhistogram.Bar
	// samples lie in the bars; total counts the timeouts too, which rank above them all.
	samples, total int64
}

func newDistribution(h *hdrhistogram.Histogram, timeouts int64) distribution {
	d := distribution{samples: h.TotalCount(), total: h.TotalCount() + timeouts}
	for _, b := range h.Distribution() {
		if b.Count > 0 {
			d.bars = append(d.bars, b)
		}
	}
	return d
}

// quantile is the value of rank ⌈qN⌉, as the upper end of its bucket.
func (d distribution) quantile(q float64) Quantile {
	if float64(d.total)*(1-q) < samplesBeyond-1e-6 {
		return Quantile{Q: q, Unknown: TooFewSamples}
	}
	// The subtrahend keeps a product such as 0.9 * 10 from being rounded up to the next rank.
	rank := max(int64(math.Ceil(q*float64(d.total)-1e-9*float64(d.total))), 1)
	if rank > d.samples {
		return Quantile{Q: q, Unknown: TimedOut}
	}
	for _, b := range d.bars {
		rank -= b.Count
		if rank <= 0 {
			return Quantile{Q: q, Micros: &b.To}
		}
	}
	return Quantile{Q: q, Unknown: TooFewSamples}
}
