package measured

import (
	"fmt"
	"maps"
	"math"
	"sync"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// curveSteps is a curve's resolution, curveNines its reach, in powers of ten of 1 - q.
const curveSteps, curveNines = 12, 5

// Kinds are in the order of preference for the mean latency.
var Kinds = []record.LatencyKind{record.Observed, record.WithConnection, record.FromIntended, record.Corrected}

var tableQuantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// Spread holds each sample between its places in two histograms.
type Spread struct {
	low histogram.Histogram
	// high is nil for exact samples.
	high *histogram.Histogram
	// parts counts the distributions in it.
	parts int
	// timeouts and dropped are requests without a sample; they rank above all samples.
	timeouts, dropped int64
	ranks             histogram.Ranks
}

// spreads are free for use. A run has tens of thousands, each of a hundred kilobytes.
var spreads = sync.Pool{New: func() any { return &Spread{} }}

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

func (s *Spread) merge(o *Spread) {
	s.add(&o.low, o.high)
	s.parts++
	s.timeouts += o.timeouts
	s.dropped += o.dropped
}

// Mean returns the mean; its upper end if samples are not exact.
func (s *Spread) Mean() float64 { return s.upper().Mean() }

// LowMean returns the lower end of the mean; the mean itself if samples are exact.
func (s *Spread) LowMean() float64 { return s.low.Mean() }

// Exact reports whether each sample is one value, and not a lower and an upper end.
func (s *Spread) Exact() bool { return s.high == nil }

func (s *Spread) upper() *histogram.Histogram {
	if s.high == nil {
		return &s.low
	}
	return s.high
}

// Distributions hold the distributions of a cell or a group by kind.
type Distributions map[record.LatencyKind]*Spread

// Merge adds the samples, timeouts and dropped requests of o, kind by kind.
func (d Distributions) Merge(o Distributions) {
	for kind, s := range o {
		d.of(kind).merge(s)
	}
}

// Require drops kinds without samples or with too few parts, which cover only part of the load.
func (d Distributions) Require(parts int) {
	maps.DeleteFunc(d, func(_ record.LatencyKind, s *Spread) bool { return s.parts < parts || s.low.Samples() == 0 })
}

// Censor adds requests without a sample, which rank above all: timeouts to every kind, dropped ones to FromIntended
// only.
func (d Distributions) Censor(timeouts, dropped int64) {
	for kind, s := range d {
		s.timeouts = timeouts
		if kind == record.FromIntended {
			s.dropped = dropped
		}
	}
}

// First returns the first existing kind.
func (d Distributions) First(kinds ...record.LatencyKind) (record.LatencyKind, *Spread) {
	for _, kind := range kinds {
		if s := d[kind]; s != nil {
			return kind, s
		}
	}
	return "", nil
}

// Release empties d, so that others can use its memory.
func (d Distributions) Release() {
	for _, s := range d {
		s.low.Reset()
		*s = Spread{low: s.low, ranks: s.ranks}
		spreads.Put(s)
	}
	clear(d)
}

// Describe returns one entry per existing kind, in the order of Kinds.
func (d Distributions) Describe() []Distribution {
	out := []Distribution{}
	for _, kind := range Kinds {
		if s := d[kind]; s != nil {
			out = append(out, s.describe(kind))
		}
	}
	return out
}

// Quantiles returns the table of quantiles of each existing kind.
func (d Distributions) Quantiles() map[record.LatencyKind][]Quantile {
	out := map[record.LatencyKind][]Quantile{}
	for kind, s := range d {
		out[kind] = s.distribution().table()
	}
	return out
}

func (d Distributions) of(kind record.LatencyKind) *Spread {
	if d[kind] == nil {
		d[kind] = spreads.Get().(*Spread)
	}
	return d[kind]
}

// Read adds a stored distribution to its kind.
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

type distribution struct {
	low, high histogram.Ranks
	// total includes censored requests.
	total, timeouts int64
}

// distribution is valid until the next call.
func (s *Spread) distribution() distribution {
	d := distribution{total: s.low.Samples() + s.timeouts + s.dropped, timeouts: s.timeouts}
	s.ranks = s.low.RanksIn(s.ranks)
	d.low, d.high = s.ranks, s.ranks
	if s.high != nil {
		d.high = s.high.Ranks()
	}
	return d
}

func (d distribution) table() []Quantile {
	out := make([]Quantile, 0, len(tableQuantiles))
	for _, q := range tableQuantiles {
		out = append(out, d.quantile(q))
	}
	return out
}

// quantile returns the value of rank ⌈qN⌉: from the lower end of the low bin to the upper end of the high bin.
func (d distribution) quantile(q float64) Quantile {
	if float64(d.total)*(1-q) < inference.SamplesBeyond-1e-6 {
		return Quantile{Q: q, Unknown: TooFewSamples}
	}
	// The subtrahend keeps a product such as 0.9 * 10 from rounding up to the next rank.
	rank := max(int64(math.Ceil(q*float64(d.total)-1e-9*float64(d.total))), 1)
	first, ok := d.low.Bin(rank)
	if !ok {
		// With both kinds of censored requests, the one at this rank is unknown. Report the timeout, since the server
		// causes it.
		if d.timeouts == 0 {
			return Quantile{Q: q, Unknown: NotSent}
		}
		return Quantile{Q: q, Unknown: TimedOut}
	}
	// Both histograms hold the same number of samples.
	last, _ := d.high.Bin(rank)
	if first == last {
		return Quantile{Q: q, Micros: &last.High}
	}
	return Quantile{Q: q, LowMicros: &first.Low, Micros: &last.High}
}

// Distribution is merged over all blocks and generators.
type Distribution struct {
	Kind    record.LatencyKind `json:"kind"`
	Cells   int                `json:"cells"`
	Samples int64              `json:"samples"`
	// Timeouts and Dropped rank above all samples, at an unknown value.
	Timeouts int64 `json:"timeouts"`
	Dropped  int64 `json:"dropped,omitempty"`
	// MeanLowMicros is the mean's lower end; nil for exact samples.
	MeanLowMicros *float64   `json:"meanLowMicros,omitempty"`
	MeanMicros    float64    `json:"meanMicros"`
	MaxMicros     int64      `json:"maxMicros"`
	Quantiles     []Quantile `json:"quantiles"`
	// Curve is for a chart; it holds known quantiles.
	Curve []Quantile `json:"curve"`
}

// Quantile is unknown, because of Unknown, if Micros is nil. It lies between LowMicros and Micros, or is Micros to
// the histogram's resolution.
type Quantile struct {
	Q         float64 `json:"q"`
	LowMicros *int64  `json:"lowMicros,omitempty"`
	Micros    *int64  `json:"micros,omitempty"`
	Unknown   Unknown `json:"unknown,omitempty"`
}

// Unknown is why a quantile is unknown.
type Unknown string

const (
	// TooFewSamples: there are fewer than 10 / (1 - q) samples.
	TooFewSamples Unknown = "TooFewSamples"
	// TimedOut: the quantile lies among timed-out requests.
	TimedOut Unknown = "TimedOut"
	// NotSent: the quantile lies among planned requests that were not sent.
	NotSent Unknown = "NotSent"
)

// Preferred is the order of kinds for a percentile.
var Preferred = []record.LatencyKind{record.FromIntended, record.Observed, record.WithConnection, record.Corrected}

// Between returns the bounds of a known quantile, in microseconds.
func (q Quantile) Between() (low, high float64) {
	low, high = float64(*q.Micros), float64(*q.Micros)
	if q.LowMicros != nil {
		low = float64(*q.LowMicros)
	}
	return low, high
}

// Edges returns the outer bin edges of a known quantile, in microseconds.
func (q Quantile) Edges() (low, high float64) {
	last := *q.Micros
	low, high = float64(histogram.BinOf(last).Low), float64(last+1)
	if q.LowMicros != nil {
		low = float64(*q.LowMicros)
	}
	return low, high
}
