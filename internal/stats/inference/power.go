package inference

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
)

// Prospect describes a future comparison. All planning rests on it.
type Prospect struct {
	// SD is that of a block's log ratio, Width the part of the interval that no number of blocks narrows.
	SD, Width float64
	// Alpha is the limit of p for a winner, at the worst place in its family.
	Alpha float64
	// Margin is the log difference that a winner's interval must reach beyond; 0 for none.
	Margin float64
}

// quadrature points give four digits of a probability from two degrees of freedom on.
const quadrature = 48

// spreads are the possible measured spreads of n blocks, relative to the true one, with weights for an average.
type spreads struct {
	n                     int
	at, weight            []float64
	critical, equivalence float64
}

// measuredAs integrates over s, whose square times the degrees of freedom is chi-squared distributed.
func (p Prospect) measuredAs(n int) spreads {
	freedom := float64(n - 1)
	out := spreads{
		n: n, at: make([]float64, quadrature), weight: make([]float64, quadrature),
		critical: TQuantile(1-p.Alpha/2, freedom), equivalence: TQuantile(1-Alpha/2, freedom),
	}
	// Eight standard deviations of s to both sides leave out less than a millionth.
	reach := 8 / math.Sqrt(2*freedom)
	quad.Legendre{}.FixedLocations(out.at, out.weight, max(0, 1-reach), 1+reach)
	half := freedom / 2
	gamma, _ := math.Lgamma(half)
	scale := math.Ln2 + half*math.Log(half) - gamma
	for k, s := range out.at {
		out.weight[k] *= math.Exp(scale + (freedom-1)*math.Log(s) - half*s*s)
	}
	return out
}

func (s spreads) average(probability func(spread float64) float64) float64 {
	var sum float64
	for k, at := range s.at {
		sum += s.weight[k] * probability(at)
	}
	return sum
}

func certain(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func (p Prospect) finds(difference float64, s spreads) float64 {
	difference = math.Abs(difference)
	if p.SD == 0 {
		return certain(difference > p.Width/2 && difference+p.Width/2 > p.Margin)
	}
	scale := math.Sqrt(float64(s.n)) / p.SD
	return s.average(func(spread float64) float64 {
		least := max(p.Width/2*scale+s.critical*spread, (p.Margin-p.Width/2)*scale-s.equivalence*spread)
		return normal(difference*scale-least) + normal(-difference*scale-least)
	})
}

func (p Prospect) equates(difference float64, s spreads) float64 {
	if p.SD == 0 {
		return certain(math.Abs(difference)+p.Width/2 <= math.Log1p(EquivalenceMargin))
	}
	margin, scale := math.Log1p(EquivalenceMargin)-p.Width/2, math.Sqrt(float64(s.n))/p.SD
	return s.average(func(spread float64) float64 {
		return max(0, normal((margin-difference)*scale-s.equivalence*spread)-normal((-margin-difference)*scale+s.equivalence*spread))
	})
}

// Detectable returns the smallest log difference that n blocks find with probability Power.
func (p Prospect) Detectable(n int) float64 {
	s := p.measuredAs(n)
	low, high := 0.0, p.Width/2+p.SD+1e-6
	for p.finds(high, s) < Power {
		low, high = high, 2*high
	}
	for range 30 {
		mid := (low + high) / 2
		if p.finds(mid, s) < Power {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

func (p Prospect) decides(difference float64, n int) float64 {
	s := p.measuredAs(n)
	return p.finds(difference, s) + p.equates(difference, s)
}

// BlocksNeeded returns the least number of blocks, from least on, that decide with probability Power given the true
// difference: by a winner, or an interval within EquivalenceMargin. It is 0 if no sensible number does.
func (p Prospect) BlocksNeeded(difference float64, least int) int {
	n := least + sort.Search(maxBlocksNeeded-least+1, func(more int) bool {
		return p.decides(difference, least+more) >= Power
	})
	if n > maxBlocksNeeded {
		return 0
	}
	return n
}

// Bracketed reports whether no number of blocks would decide, since the samples' width alone covers both the
// difference and none.
func (p Prospect) Bracketed(difference float64) bool {
	difference = math.Abs(difference)
	return difference <= p.Width/2 && difference+p.Width/2 > math.Log1p(EquivalenceMargin)
}
