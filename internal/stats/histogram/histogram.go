package histogram

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts latencies by bin. Its zero value is empty and ready for use. It ends at its last bin with samples,
// since most of a run's tens of thousands of histograms end far below an hour.
type Histogram struct {
	counts []int64
	total  int64
}

// Record counts samples of a latency. Latencies below a microsecond count as one.
func (h *Histogram) Record(micros, samples int64) error {
	if samples < 0 {
		return fmt.Errorf("recording %d samples of %d µs: a count cannot be negative", samples, micros)
	}
	index := indexOf(max(micros, lowestMicros))
	if index >= maxBins {
		return fmt.Errorf("recording %d samples of %d µs: value %d is too large to be recorded", samples, micros, micros)
	}
	if samples > math.MaxInt64-h.total {
		return fmt.Errorf("recording %d samples of %d µs: recording %d would overflow the total count", samples, micros, samples)
	}
	h.reach(index + 1)
	h.counts[index] += samples
	h.total += samples
	return nil
}

// Add adds another histogram, bin by bin.
func (h *Histogram) Add(o *Histogram) {
	h.reach(len(o.counts))
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() { h.counts, h.total = h.counts[:0], 0 }

func (h *Histogram) reach(bins int) {
	if more := bins - len(h.counts); more > 0 {
		h.counts = append(h.counts, make([]int64, more)...)
	}
}

// Samples returns the number of samples.
func (h *Histogram) Samples() int64 { return h.total }

// Bins returns the bins with samples in ascending order, and their counts.
func (h *Histogram) Bins() iter.Seq2[Bin, int64] {
	return func(yield func(Bin, int64) bool) {
		for i, n := range h.counts {
			if n > 0 && !yield(binAt(i), n) {
				return
			}
		}
	}
}

// Mean takes each sample at the middle of its bin, in microseconds; 0 without samples.
func (h *Histogram) Mean() float64 {
	if h.total == 0 {
		return 0
	}
	var sum float64
	for b, n := range h.Bins() {
		sum += float64(n) * b.middle()
	}
	return sum / float64(h.total)
}

// StandardDeviation takes each sample at the middle of its bin, in microseconds; 0 without samples.
func (h *Histogram) StandardDeviation() float64 {
	if h.total == 0 {
		return 0
	}
	mean := h.Mean()
	var squares float64
	for b, n := range h.Bins() {
		squares += float64(n) * (b.middle() - mean) * (b.middle() - mean)
	}
	return math.Sqrt(squares / float64(h.total))
}

// Min returns the lower end of the first bin with samples, in microseconds; 0 without samples.
func (h *Histogram) Min() int64 {
	for b := range h.Bins() {
		return b.Low
	}
	return 0
}

// Max returns the upper end of the last bin with samples, in microseconds; 0 without samples.
func (h *Histogram) Max() int64 {
	for i, n := range slices.Backward(h.counts) {
		if n > 0 {
			return binAt(i).High
		}
	}
	return 0
}

// Quantile returns the upper end of the bin with the rank nearest to qN of N samples, in microseconds; 0 without
// samples. HdrHistogram's programs round the same way.
func (h *Histogram) Quantile(q float64) int64 {
	nearest := int64(q*float64(h.total) + 0.5)
	b, _ := h.Ranks().Bin(min(max(nearest, 1), h.total))
	return b.High
}

// Ranks are running sums, for binary search of a rank.
type Ranks []int64

// Ranks sums the current samples.
func (h *Histogram) Ranks() Ranks { return h.RanksIn(nil) }

// RanksIn is Ranks in the memory of others, which it overwrites.
func (h *Histogram) RanksIn(others Ranks) Ranks {
	sums := slices.Grow(others[:0], len(h.counts))
	var sum int64
	for _, n := range h.counts {
		sum += n
		sums = append(sums, sum)
	}
	return sums
}

// Bin returns the bin of the sample with a rank, from 1, in ascending order; false if there are fewer samples.
func (r Ranks) Bin(rank int64) (b Bin, ok bool) {
	i, _ := slices.BinarySearch(r, rank)
	if i == len(r) {
		return Bin{}, false
	}
	return binAt(i), true
}

const (
	// HighestMicros is the longest latency: one hour.
	HighestMicros = 3_600_000_000
	lowestMicros  = 1
	digits        = 3

	halfMagnitude = 10
	half          = 1 << halfMagnitude
	// maxBins is 2,048 plus 1,024 for each of the 21 doublings up to more than an hour.
	maxBins = 23 * half
)

// Bin is a range of latencies counted together, in whole microseconds from Low to High.
type Bin struct{ Low, High int64 }

// BinOf returns the bin of a latency, in microseconds.
func BinOf(micros int64) Bin { return binAt(indexOf(micros)) }

func binAt(index int) Bin {
	doubling := max(index>>halfMagnitude-1, 0)
	low := int64(index-doubling*half) << doubling
	return Bin{Low: low, High: low + 1<<doubling - 1}
}

func indexOf(micros int64) int {
	doubling := max(bits.Len64(uint64(micros))-halfMagnitude-1, 0)
	return int(micros>>doubling) + doubling*half
}

func (b Bin) middle() float64 { return float64(b.Low + (b.High-b.Low+1)/2) }

// Encode returns the histogram in its stored form.
func (h *Histogram) Encode() (string, error) {
	text, err := hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: lowestMicros, HighestTrackableValue: HighestMicros, SignificantFigures: digits, Counts: h.counts,
	}).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encoding the histogram: %w", err)
	}
	return string(text), nil
}
