package stats

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// paired is the outcome of a paired t-test on logs of ratios.
type paired struct {
	n        int
	mean, sd float64
	// low and high bound the interval of the mean; p is two-sided. Known from three pairs on.
	known     bool
	low, high float64
	p         float64
}

// minPairs is the number of pairs from which on a spread is worth printing.
const minPairs = 3

// pairedT tests whether the mean of logs is 0.
func pairedT(logs []float64) paired {
	r := paired{n: len(logs)}
	r.mean, r.sd = moments(logs)
	if r.n < minPairs {
		return r
	}
	r.known = true
	freedom := float64(r.n - 1)
	sem := r.sd / math.Sqrt(float64(r.n))
	half := tQuantile(1-Alpha/2, freedom) * sem
	r.low, r.high = r.mean-half, r.mean+half
	switch {
	case sem > 0:
		r.p = tTwoSided(r.mean/sem, freedom)
	case r.mean == 0:
		r.p = 1
	}
	return r
}

// detectable is the smallest difference, as a log, that n pairs of this spread show in Power of all runs at Alpha:
//
//	(t[1 - Alpha/2, n-1] + t[Power, n-1]) * sd / sqrt(n)
func detectable(sd float64, n int) float64 {
	freedom := float64(n - 1)
	return (tQuantile(1-Alpha/2, freedom) + tQuantile(Power, freedom)) * sd / math.Sqrt(float64(n))
}

// blocksNeeded is the number of blocks that would about decide a comparison of this spread: enough to see a difference as large as
// the one observed, or the EquivalenceMargin if that is larger. It is 0 if no sensible number would.
func blocksNeeded(r paired) int {
	if !r.known {
		return 0
	}
	aim := max(math.Abs(r.mean), math.Log1p(EquivalenceMargin))
	// The detectable difference falls with the number of blocks, so that the least number can be searched by halves.
	least := max(r.n+1, MinBlocks)
	n := least + sort.Search(maxBlocksNeeded-least+1, func(more int) bool { return detectable(r.sd, least+more) <= aim })
	if n > maxBlocksNeeded {
		return 0
	}
	return n
}

// signFlip is the exact two-sided p of the hypothesis that each log is as likely positive as negative: the share of all patterns
// of signs whose sum lies at least as far from 0 as the observed one. It enumerates half of the patterns, since the other half
// mirrors it, in Gray code, in which neighbours differ by one sign.
func signFlip(logs []float64) float64 {
	n := len(logs)
	var sum, scale float64
	for _, v := range logs {
		sum += v
		scale += math.Abs(v)
	}
	observed := math.Abs(sum) - 1e-12*scale
	signs := slices.Clone(logs)
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

// holm adjusts the p of a family step by step: the smallest is multiplied by their number, the next by one less, and so on, and
// none may be less than one before it. The order of the result is that of the argument.
func holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(ps))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, ps[i]*float64(len(ps)-rank)))
		out[i] = least
	}
	return out
}
