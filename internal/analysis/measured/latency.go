package measured

import (
	"fmt"
	"maps"
	"math"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// curveSteps and curveNines are the resolution and the reach of a distribution's curve, in powers of ten of 1 - q.
const curveSteps, curveNines = 12, 5

// Kinds are the kinds in the order in which the mean latency prefers them.
var Kinds = []record.LatencyKind{record.Observed, record.WithConnection, record.FromIntended, record.Corrected}

// tableQuantiles are those of the tables.
var tableQuantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// Spread is a distribution of one kind between two histograms: every sample lies between its place in low and its place in high.
type Spread struct {
	low histogram.Histogram
	// high is nil as long as every sample is known exactly.
	high *histogram.Histogram
	// parts is the number of distributions in it.
	parts int
	// timeouts and dropped are requests without a sample that rank above all samples.
	timeouts, dropped int64
}

// add adds samples between two histograms; exact ones have no high.
func (s *Spread) add(low, high *histogram.Histogram) {
	if high != nil && s.high == nil {
		s.high = &histogram.Histogram{}
		s.high.Add(&s.low)
	}
	s.low.Add(low)
	if s.high == nil {
		return
	}
	if high == nil {
		high = low
	}
	s.high.Add(high)
}

// merge adds another distribution of the same kind with what is censored in it.
func (s *Spread) merge(o *Spread) {
	s.add(&o.low, o.high)
	s.parts++
	s.timeouts += o.timeouts
	s.dropped += o.dropped
}

// Mean is the mean latency in microseconds, or its upper end.
func (s *Spread) Mean() float64 { return s.upper().Mean() }

// LowMean is the lower end of the mean, which is the mean itself where every sample is known exactly.
func (s *Spread) LowMean() float64 { return s.low.Mean() }

// Exact reports whether every sample is known exactly.
func (s *Spread) Exact() bool { return s.high == nil }

// upper is the histogram of upper ends.
func (s *Spread) upper() *histogram.Histogram {
	if s.high == nil {
		return &s.low
	}
	return s.high
}

// Distributions are those of a cell or of a group, by kind. Kinds are never mixed.
type Distributions map[record.LatencyKind]*Spread

// Merge adds the distributions of another cell.
func (d Distributions) Merge(o Distributions) {
	for kind, s := range o {
		d.of(kind).merge(s)
	}
}

// Require leaves out kinds without samples, and those of which there are fewer distributions than asked for: they would speak for a part of
// the load.
func (d Distributions) Require(parts int) {
	maps.DeleteFunc(d, func(_ record.LatencyKind, s *Spread) bool { return s.parts < parts || s.low.Samples() == 0 })
}

// Censor adds requests without a sample, which rank above all samples: timeouts to every kind, and those that were never sent to the one
// that knows when they should have been.
func (d Distributions) Censor(timeouts, dropped int64) {
	for kind, s := range d {
		s.timeouts = timeouts
		if kind == record.FromIntended {
			s.dropped = dropped
		}
	}
}

// First is the distribution of the first of some kinds that there is; nil if there is none.
func (d Distributions) First(kinds ...record.LatencyKind) (record.LatencyKind, *Spread) {
	for _, kind := range kinds {
		if s := d[kind]; s != nil {
			return kind, s
		}
	}
	return "", nil
}

// Describe makes the tables and the curves of all kinds, in their order.
func (d Distributions) Describe() []Distribution {
	out := []Distribution{}
	for _, kind := range Kinds {
		if s := d[kind]; s != nil {
			out = append(out, s.describe(kind))
		}
	}
	return out
}

// Quantiles are those of the tables, by kind.
func (d Distributions) Quantiles() map[record.LatencyKind][]Quantile {
	out := map[record.LatencyKind][]Quantile{}
	for kind, s := range d {
		out[kind] = s.distribution().table()
	}
	return out
}

// of is the distribution of a kind, made if there is none.
func (d Distributions) of(kind record.LatencyKind) *Spread {
	if d[kind] == nil {
		d[kind] = &Spread{}
	}
	return d[kind]
}

// Read adds a stored distribution to the one of its kind.
func (d Distributions) Read(dec *histogram.Decoder, l record.Latency) error {
	if !known(l.Kind) {
		return fmt.Errorf("merging histograms: %q is no kind of latency", l.Kind)
	}
	s := d.of(l.Kind)
	if l.HDRHigh == "" {
		h, err := decode(dec, l.HDR, l.Samples)
		if err != nil {
			return err
		}
		s.add(h, nil)
		s.parts++
		return nil
	}
	var low histogram.Histogram
	h, err := decode(dec, l.HDR, l.Samples)
	if err != nil {
		return err
	}
	low.Add(h)
	if h, err = decode(dec, l.HDRHigh, l.Samples); err != nil {
		return err
	}
	s.add(&low, h)
	s.parts++
	return nil
}

func known(kind record.LatencyKind) bool {
	for _, k := range Kinds {
		if k == kind {
			return true
		}
	}
	return false
}

// decode decodes a histogram that must hold a number of samples.
func decode(dec *histogram.Decoder, encoded string, samples int64) (*histogram.Histogram, error) {
	h, err := dec.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	if h.Samples() != samples {
		return nil, fmt.Errorf("decoding a histogram: it holds %d samples and says %d", h.Samples(), samples)
	}
	return h, nil
}

// describe makes the tables and the curve of a merged distribution.
func (s *Spread) describe(kind record.LatencyKind) Distribution {
	l := Distribution{
		Kind: kind, Cells: s.parts, Samples: s.low.Samples(), Timeouts: s.timeouts, Dropped: s.dropped,
		MeanMicros: s.upper().Mean(), MaxMicros: s.upper().Max(), Curve: []Quantile{},
	}
	if s.high != nil {
		mean := s.low.Mean()
		l.MeanLowMicros = &mean
	}
	d := s.distribution()
	l.Quantiles = d.table()
	for step := range curveNines*curveSteps + 1 {
		q := d.quantile(1 - math.Pow(10, -float64(step)/curveSteps))
		if q.Micros != nil {
			l.Curve = append(l.Curve, q)
		}
	}
	return l
}

// distribution answers questions for quantiles.
type distribution struct {
	// low and high find the bin of a rank; they are the same where every sample is known exactly.
	low, high histogram.Ranks
	// total counts what is censored too, which ranks above all samples.
	total, timeouts int64
}

func (s *Spread) distribution() distribution {
	d := distribution{total: s.low.Samples() + s.timeouts + s.dropped, timeouts: s.timeouts}
	d.low = s.low.Ranks()
	d.high = d.low
	if s.high != nil {
		d.high = s.high.Ranks()
	}
	return d
}

// table is what the tables say of the distribution.
func (d distribution) table() []Quantile {
	var out []Quantile
	for _, q := range tableQuantiles {
		out = append(out, d.quantile(q))
	}
	return out
}

// quantile is the value of rank ⌈qN⌉: the bin that holds it, from the lower end of the low one to the upper end of the high one.
func (d distribution) quantile(q float64) Quantile {
	if float64(d.total)*(1-q) < inference.SamplesBeyond-1e-6 {
		return Quantile{Q: q, Unknown: TooFewSamples}
	}
	// The subtrahend keeps a product such as 0.9 * 10 from being rounded up to the next rank.
	rank := max(int64(math.Ceil(q*float64(d.total)-1e-9*float64(d.total))), 1)
	first, ok := d.low.Bin(rank)
	if !ok {
		// Which of the censored requests hold the rank is unknown where there are both kinds; timeouts are said, being the server's.
		if d.timeouts == 0 {
			return Quantile{Q: q, Unknown: NotSent}
		}
		return Quantile{Q: q, Unknown: TimedOut}
	}
	// The upper ends are of as many samples.
	last, _ := d.high.Bin(rank)
	if first == last {
		return Quantile{Q: q, Micros: &last.High}
	}
	return Quantile{Q: q, LowMicros: &first.Low, Micros: &last.High}
}

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
