package inference

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThePlainIntervalIsThatOfTheTextbook(t *testing.T) {
	for name, tc := range map[string]struct {
		mean, sd  float64
		n         int
		low, high float64
	}{
		// Student's t of 9 degrees of freedom is 3.2498 at 0.995.
		"ten values around zero":  {0, 1, 10, -3.2498 / math.Sqrt(10), 3.2498 / math.Sqrt(10)},
		"ten values below zero":   {-5, 2, 10, -5 - 2*3.2498/math.Sqrt(10), -5 + 2*3.2498/math.Sqrt(10)},
		"three values":            {1, 1, 3, 1 - 9.9248/math.Sqrt(3), 1 + 9.9248/math.Sqrt(3)},
		"values that are all one": {7, 0, 5, 7, 7},
	} {
		t.Run(name, func(t *testing.T) {
			low, high := PlainInterval(tc.mean, tc.sd, tc.n)
			if diff := cmp.Diff([]float64{tc.low, tc.high}, []float64{low, high}, within(1e-3)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestARatioLiesBetweenTheRatiosOfTheEnds(t *testing.T) {
	for name, tc := range map[string]struct{ a, b, want Span }{
		"of two exact values": {Exactly(20), Exactly(10), Exactly(math.Log(2))},
		"of one to itself":    {Exactly(3), Exactly(3), Exactly(0)},
		"of two wide values":  {Span{8, 10, 12}, Span{4, 5, 6}, Span{math.Log(8.0 / 6), math.Log(2), math.Log(12.0 / 4)}},
		"of a wide to exact":  {Span{8, 10, 12}, Exactly(10), Span{math.Log(0.8), 0, math.Log(1.2)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := LogRatio(tc.a, tc.b)
			if diff := cmp.Diff(tc.want, got, within(1e-12)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back := LogRatio(tc.b, tc.a)
			if diff := cmp.Diff(Span{-back.High, -back.Mid, -back.Low}, got, within(1e-12)); diff != "" {
				t.Errorf("the other way round it is another ratio:\n%s", diff)
			}
		})
	}
}

func TestTheWidthOfAnEstimateIsThatOfItsSamples(t *testing.T) {
	sample := func(block int32, low, mid, high float64) Sample { return Sample{block, Span{low, mid, high}} }
	for name, tc := range map[string]struct {
		levels []Stratum
		want   float64
	}{
		"exact samples": {[]Stratum{{1, logs(0.1, 0.2, 0.3)}}, 0},
		"one width":     {[]Stratum{{1, []Sample{sample(1, 0, 1, 2), sample(2, 0, 1, 2), sample(3, 0, 1, 2)}}}, 2},
		"widths by weight": {[]Stratum{
			{0.25, []Sample{sample(1, 0, 1, 2), sample(2, 0, 1, 2), sample(3, 0, 1, 2)}}, {0.75, logs(1, 1, 1)},
		}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NewEstimate(tc.levels).Width(); math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("the width is %v, want %v", got, tc.want)
			}
		})
	}
}

// enumerated is the probability that one of two servers misses at least k of n blocks and the other none, enumerated
// block by block. Each misses a block alone with the given probability.
func enumerated(n, k int, alone float64) float64 {
	var walk func(left, one, other int) float64
	walk = func(left, one, other int) float64 {
		if left == 0 {
			if one >= k && other == 0 || other >= k && one == 0 {
				return 1
			}
			return 0
		}
		return alone*(walk(left-1, one+1, other)+walk(left-1, one, other+1)) + (1-2*alone)*walk(left-1, one, other)
	}
	return walk(n, 0, 0)
}

func TestOneSidedCountsEveryPatternOfBlocks(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for k := 1; k <= n; k++ {
			if got, want := OneSided(n, k), enumerated(n, k, 0.25); math.Abs(got-want) > 1e-12 {
				t.Errorf("at least %d of %d blocks on one side: %v, want %v", k, n, got, want)
			}
		}
	}
}

// The worst case is a quarter each, as long as more than half of the blocks are missed.
func TestOneSidedIsTheWorstCaseOfMostBlocks(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for k := n/2 + 1; k <= n; k++ {
			for alone := 0.01; alone < 0.25; alone += 0.02 {
				if other := enumerated(n, k, alone); other > OneSided(n, k)+1e-12 {
					t.Errorf("%d of %d blocks: %v with %v each, and %v is given", k, n, other, alone, OneSided(n, k))
				}
			}
		}
	}
}

func TestHolmSharesTheBudgetOfItsFamily(t *testing.T) {
	tests := []Test{{0.001, 0.5}, {0.02, 0.5}}
	whole, half := Holm(tests, 1), Holm(tests, 0.5)
	for k := range tests {
		if math.Abs(half[k]-2*whole[k]) > 1e-12 {
			t.Errorf("with half of the budget test %d has the p %v, with all of it %v", k, half[k], whole[k])
		}
	}
	if got := Holm(nil, 1); len(got) != 0 {
		t.Errorf("no test has the p %v", got)
	}
}

func TestAProspectWithoutNoiseIsCertain(t *testing.T) {
	for name, tc := range map[string]struct {
		prospect       Prospect
		difference     float64
		finds, equates float64
	}{
		"any difference is found":            {Prospect{Alpha: Alpha}, 0.001, 1, 1},
		"none is none":                       {Prospect{Alpha: Alpha}, 0, 0, 1},
		"a large one is no equality":         {Prospect{Alpha: Alpha}, -0.3, 1, 0},
		"less than what is known is unknown": {Prospect{Alpha: Alpha, Width: 0.04}, 0.01, 0, 1},
		"more than the margin is unknown":    {Prospect{Alpha: Alpha, Width: 0.2}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.prospect.measuredAs(7)
			if finds, equates := tc.prospect.finds(tc.difference, s), tc.prospect.equates(tc.difference, s); finds != tc.finds || equates != tc.equates {
				t.Errorf("it is found with probability %v and equated with %v, want %v and %v", finds, equates, tc.finds, tc.equates)
			}
		})
	}
}

func TestWhatOnlyBracketsHideNoNumberOfBlocksDecides(t *testing.T) {
	for name, tc := range map[string]struct {
		width, difference float64
		want              bool
	}{
		"values known exactly":                     {0, 0.001, false},
		"a difference beyond the brackets":         {0.2, 0.15, false},
		"a difference within them":                 {0.2, 0.05, true},
		"a difference within them, the other way":  {0.2, -0.05, true},
		"brackets that leave no difference to see": {0.04, 0.01, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := Prospect{SD: 0.001, Width: tc.width, Alpha: Alpha}
			if got := p.Bracketed(tc.difference); got != tc.want {
				t.Errorf("bracketed: %v", got)
			}
			if needed := p.BlocksNeeded(tc.difference, 7); (needed == 0) != tc.want {
				t.Errorf("%d blocks would decide", needed)
			}
		})
	}
}
