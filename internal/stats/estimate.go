package stats

import (
	"math"
	"math/bits"
	"slices"
)

// minPairs is the number of pairs from which on a spread is worth printing.
const minPairs = 3

// sample is the log of the ratio of one block's pair.
type sample struct {
	block int32
	span
}

// stratum is one level of a mean: its samples, and its weight. The weights of a mean add up to 1.
type stratum struct {
	weight  float64
	samples []sample
}

// estimate is a weighted mean over levels of each level's mean over the blocks that have a pair there, so that every level stays in it
// whichever cells are void. Its error is the jackknife's that leaves out one block at a time, with Student's t. Its degrees of freedom are one
// less than the number of blocks, or those of Satterthwaite where a level with few pairs makes most of the error. Where no pair is missing it
// is the paired t on the blocks' means.
type estimate struct {
	// blocks is the number of blocks with any pair, fewest the number of pairs at the level that has the fewest.
	blocks, fewest int
	mean           float64
	// known says whether there is an interval: from three pairs at each level on.
	known bool
	// sd is the standard deviation of a block's contribution: the standard error times the root of blocks.
	sd, freedom float64
	// least and most are the means of the samples' lower and upper ends, with their standard errors; equal where samples are exact.
	least, most ended
	// contributions are what each block adds: the jackknife's pseudo-values, and the block's own mean where no pair is missing.
	contributions []sample
	// whole is true if no block lacks a pair.
	whole bool
}

// ended is the mean of one end of all samples.
type ended struct{ mean, sem float64 }

// newEstimate estimates a mean over levels.
func newEstimate(levels []stratum) estimate {
	var e estimate
	blocks := blocksOf(levels)
	e.blocks = len(blocks)
	e.fewest = e.blocks
	for _, l := range levels {
		e.fewest = min(e.fewest, len(l.samples))
	}
	e.whole = !slices.ContainsFunc(levels, func(l stratum) bool { return len(l.samples) < e.blocks })
	if e.fewest == 0 {
		e.blocks = 0
		return e
	}
	low, mid, high := jackknife(levels, blocks, func(s span) float64 { return s.low }), jackknife(levels, blocks, func(s span) float64 { return s.mid }),
		jackknife(levels, blocks, func(s span) float64 { return s.high })
	e.mean, e.least, e.most = mid.mean, low.ended, high.ended
	for k, b := range blocks {
		e.contributions = append(e.contributions, sample{block: b, span: span{low.pseudo[k], mid.pseudo[k], high.pseudo[k]}})
	}
	if e.fewest >= minPairs {
		e.known, e.sd, e.freedom = true, mid.sem*math.Sqrt(float64(e.blocks)), freedom(levels, e.blocks)
	}
	return e
}

// freedom is Satterthwaite's of the levels' own errors, and no more than blocks give.
func freedom(levels []stratum, blocks int) float64 {
	var sum, terms float64
	for _, l := range levels {
		values := make([]float64, len(l.samples))
		for k, s := range l.samples {
			values[k] = s.mid
		}
		_, sd := moments(values)
		n := float64(len(values))
		v := l.weight * l.weight * sd * sd / n
		sum += v
		terms += v * v / (n - 1)
	}
	most := float64(blocks - 1)
	if terms == 0 {
		return most
	}
	return min(most, sum*sum/terms)
}

// blocksOf are the blocks with a pair at any level, in order.
func blocksOf(levels []stratum) []int32 {
	var out []int32
	for _, l := range levels {
		for _, s := range l.samples {
			out = append(out, s.block)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// knife is the outcome of a jackknife: the pseudo-values are in the order of the blocks.
type knife struct {
	ended
	pseudo []float64
}

// jackknife leaves out one block at a time. A level with a single pair cannot do without it: its pseudo-value is then of the others alone,
// and no interval is given.
func jackknife(levels []stratum, blocks []int32, of func(span) float64) knife {
	n := float64(len(blocks))
	var k knife
	without := make([]float64, len(blocks))
	for _, l := range levels {
		var mean float64
		size := float64(len(l.samples))
		for _, s := range l.samples {
			mean += of(s.span) / size
		}
		k.mean += l.weight * mean
		if len(l.samples) < 2 {
			continue
		}
		for _, s := range l.samples {
			at, _ := slices.BinarySearch(blocks, s.block)
			without[at] += l.weight * (mean - of(s.span)) / (size - 1)
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

// interval holds the mean with Confidence, wherever the samples lie between their ends.
func (e estimate) interval() (low, high float64) {
	t := tQuantile(1-Alpha/2, e.freedom)
	return e.least.mean - t*e.least.sem, e.most.mean + t*e.most.sem
}

// p is the two-sided p of the hypothesis that the mean is 0, at the end of the samples that speaks for it most.
func (e estimate) p() float64 {
	switch {
	case e.least.mean > 0:
		return e.least.p(e.freedom)
	case e.most.mean < 0:
		return e.most.p(e.freedom)
	}
	return 1
}

func (e ended) p(freedom float64) float64 {
	if e.sem == 0 {
		return 0
	}
	return tTwoSided(e.mean/e.sem, freedom)
}

// width is how far the means of the samples' ends lie apart: what no number of blocks makes narrower.
func (e estimate) width() float64 { return e.most.mean - e.least.mean }

// signFlip is the exact two-sided p of the hypothesis that each log is as likely positive as negative: the share of all patterns
// of signs whose sum lies at least as far from 0 as the observed one. It enumerates half of the patterns, since the other half
// mirrors it, in Gray code, in which neighbours differ by one sign.
func signFlip(samples []sample) float64 {
	n := len(samples)
	signs := make([]float64, n)
	var sum, scale float64
	for i, s := range samples {
		signs[i] = s.mid
		sum += s.mid
		scale += math.Abs(s.mid)
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

// span is a figure that is known to lie between two ends: mid is its best guess.
type span struct{ low, mid, high float64 }

// exactly is a span without width.
func exactly(v float64) span { return span{v, v, v} }

// ratio is the log of a / b.
func ratio(a, b span) span {
	return span{math.Log(a.low / b.high), math.Log(a.mid / b.mid), math.Log(a.high / b.low)}
}
