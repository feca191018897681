package inference

import (
	"math"
	"math/bits"
	"slices"
)

// MinPairs is the least number of pairs whose spread is worth printing.
const MinPairs = 3

// Span is a value known to lie between two ends; Mid is the best guess.
type Span struct{ Low, Mid, High float64 }

// Exactly returns a span without width.
func Exactly(v float64) Span { return Span{v, v, v} }

// LogRatio returns the log of a / b.
func LogRatio(a, b Span) Span {
	return Span{math.Log(a.Low / b.High), math.Log(a.Mid / b.Mid), math.Log(a.High / b.Low)}
}

// Sample is the log ratio of one block's pair.
type Sample struct {
	Block int32
	Span
}

// Stratum is one level of a mean. The weights of a mean sum to 1.
type Stratum struct {
	Weight  float64
	Samples []Sample
}

// Estimate is a weighted mean over levels of each level's mean over its own pairs, so void cells exclude no level.
// Its error is the jackknife's over blocks, with Student's t. Its degrees of freedom are the blocks minus one, or
// Satterthwaite's if a level with few pairs makes most of the error. Without missing pairs it is the paired t on the
// blocks' means.
type Estimate struct {
	// Blocks counts the blocks with any pair, Fewest the pairs at the level with the fewest.
	Blocks, Fewest int
	Mean           float64
	// Known reports whether there is an interval: with three pairs or more at each level.
	Known bool
	// SD is the standard deviation of a block's contribution: the standard error times the root of blocks.
	SD, Freedom float64
	// least and most are the means of the samples' lower and upper ends, with standard errors; equal if samples are
	// exact.
	least, most ended
	// Contributions are the jackknife's pseudo-values by block: the block's own mean if no pair is missing.
	Contributions []Sample
	// Whole: no block lacks a pair.
	Whole bool
}

// ended is the mean of one end of all samples.
type ended struct{ mean, sem float64 }

// NewEstimate estimates a mean over levels.
func NewEstimate(levels []Stratum) Estimate {
	var e Estimate
	blocks := blocksOf(levels)
	e.Blocks = len(blocks)
	e.Fewest = e.Blocks
	for _, l := range levels {
		e.Fewest = min(e.Fewest, len(l.Samples))
	}
	e.Whole = !slices.ContainsFunc(levels, func(l Stratum) bool { return len(l.Samples) < e.Blocks })
	if e.Fewest == 0 {
		e.Blocks = 0
		return e
	}
	low, mid, high := jackknife(levels, blocks, func(s Span) float64 { return s.Low }), jackknife(levels, blocks, func(s Span) float64 { return s.Mid }),
		jackknife(levels, blocks, func(s Span) float64 { return s.High })
	e.Mean, e.least, e.most = mid.mean, low.ended, high.ended
	for k, b := range blocks {
		e.Contributions = append(e.Contributions, Sample{Block: b, Span: Span{low.pseudo[k], mid.pseudo[k], high.pseudo[k]}})
	}
	if e.Fewest >= MinPairs {
		e.Known, e.SD, e.Freedom = true, mid.sem*math.Sqrt(float64(e.Blocks)), freedom(levels, e.Blocks)
	}
	return e
}

// freedom is Satterthwaite's over the levels' errors, at most the blocks minus one.
func freedom(levels []Stratum, blocks int) float64 {
	var sum, terms float64
	for _, l := range levels {
		values := make([]float64, len(l.Samples))
		for k, s := range l.Samples {
			values[k] = s.Mid
		}
		_, sd := Moments(values)
		n := float64(len(values))
		v := l.Weight * l.Weight * sd * sd / n
		sum += v
		terms += v * v / (n - 1)
	}
	most := float64(blocks - 1)
	if terms == 0 {
		return most
	}
	return min(most, sum*sum/terms)
}

func blocksOf(levels []Stratum) []int32 {
	var out []int32
	for _, l := range levels {
		for _, s := range l.Samples {
			out = append(out, s.Block)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type knife struct {
	ended
	pseudo []float64
}

// jackknife leaves out one block at a time. It cannot leave out a level's only pair: that block's pseudo-value rests
// on the other levels, and there is no interval.
func jackknife(levels []Stratum, blocks []int32, of func(Span) float64) knife {
	n := float64(len(blocks))
	var k knife
	without := make([]float64, len(blocks))
	for _, l := range levels {
		var mean float64
		size := float64(len(l.Samples))
		for _, s := range l.Samples {
			mean += of(s.Span) / size
		}
		k.mean += l.Weight * mean
		if len(l.Samples) < 2 {
			continue
		}
		for _, s := range l.Samples {
			at, _ := slices.BinarySearch(blocks, s.Block)
			without[at] += l.Weight * (mean - of(s.Span)) / (size - 1)
		}
	}
	var squares float64
	for _, change := range without {
		squares += change * change
		k.pseudo = append(k.pseudo, k.mean-(n-1)*change)
	}
	k.sem = math.Sqrt(squares * (n - 1) / n)
	if len(blocks) == 1 {
		k.pseudo[0] = k.mean
	}
	return k
}

// Interval holds the mean with Confidence, wherever the samples lie between their ends.
func (e Estimate) Interval() (low, high float64) {
	t := TQuantile(1-Alpha/2, e.Freedom)
	return e.least.mean - t*e.least.sem, e.most.mean + t*e.most.sem
}

// P returns the two-sided p of a mean of 0, at the end of the samples nearest to 0.
func (e Estimate) P() float64 {
	switch {
	case e.least.mean > 0:
		return e.least.p(e.Freedom)
	case e.most.mean < 0:
		return e.most.p(e.Freedom)
	}
	return 1
}

func (e ended) p(freedom float64) float64 {
	if e.sem == 0 {
		return 0
	}
	return tTwoSided(e.mean/e.sem, freedom)
}

// Width returns the distance between the means of the samples' ends. No number of blocks makes it narrower.
func (e Estimate) Width() float64 { return e.most.mean - e.least.mean }

// SignFlip returns the exact two-sided p that each log is equally likely positive or negative: the share of sign
// patterns whose sum is at least as far from 0. It enumerates half of the patterns (the others mirror them) in Gray
// code, where neighbours differ by one sign.
func SignFlip(samples []Sample) float64 {
	n := len(samples)
	signs := make([]float64, n)
	var sum, scale float64
	for i, s := range samples {
		signs[i] = s.Mid
		sum += s.Mid
		scale += math.Abs(s.Mid)
	}
	observed := math.Abs(sum) - 1e-12*scale
	patterns := 1 << (n - 1)
	extreme := 0
	for i := range patterns {
		if math.Abs(sum) >= observed {
			extreme++
		}
		flip := bits.TrailingZeros(uint(i + 1))
		if flip < n {
			sum -= 2 * signs[flip]
			signs[flip] = -signs[flip]
		}
	}
	return float64(extreme) / float64(patterns)
}
