package inference

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// far is the most that a value counts, in median absolute deviations from the median: five standard deviations of
	// a normal distribution.
	far = 5 * 1.4826
	// grains is the number of steps between the least and the largest value when steps are measured, fine when one is
	// placed. The sum of so many values does not overflow.
	grains, fine = 1 << 20, 1 << 40
)

// MinSide is the least number of values on either side of a point.
const MinSide = 3

// resolution is the number of permutations for each that chance may make as extreme as the series.
const resolution = 2

// Point is a change of level.
type Point struct {
	// At is the index of the first value of the new level.
	At int `json:"at"`
	// Before and After are the medians of the two levels, each as far as the neighbouring point; BeforeN and AfterN
	// are their numbers of values.
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	BeforeN int     `json:"beforeN"`
	AfterN  int     `json:"afterN"`
	// P is the share of permutations of its part of the series with a step as large.
	P float64 `json:"p"`
}

// Fewest returns the least number of values in which a step can be found: with fewer, chance orders them so more
// often than alpha.
func Fewest(alpha float64) int {
	n, ways := 2*MinSide, 20.0 // The number of ways in which half of six values can come first.
	for 2/ways > alpha {
		n++
		ways *= float64(n) / float64(n-n/2)
	}
	return n
}

// Find returns the points of a series in order. Values are finite; alpha is between 0 and 1.
func Find(values []float64, alpha float64) []Point {
	var points []Point
	var part func(from, to int)
	part = func(from, to int) {
		if to-from < Fewest(alpha) {
			return
		}
		s := newScan(wholeOf(values[from:to]))
		at, p := s.test(alpha)
		if p > alpha {
			return
		}
		part(from, from+at)
		points = append(points, Point{At: from + at, P: p})
		part(from+at, to)
	}
	part(0, len(values))
	for i := range points {
		from, to := around(points, i, len(values))
		points[i].At = place(values, from, to)
	}
	for i := range points {
		from, to := around(points, i, len(values))
		p := &points[i]
		p.Before, p.BeforeN = median(values[from:p.At]), p.At-from
		p.After, p.AfterN = median(values[p.At:to]), to-p.At
	}
	return points
}

func around(points []Point, i, n int) (from, to int) {
	to = n
	if i > 0 {
		from = points[i-1].At
	}
	if i+1 < len(points) {
		to = points[i+1].At
	}
	return from, to
}

// place finds where the one step of a part fits best: where values are nearest to the medians of their sides.
// Bisection alone is drawn to the middle.
func place(values []float64, from, to int) int {
	part := values[from:to]
	s := newScan(grained(part, slices.Min(part), slices.Max(part), fine))
	backwards := slices.Clone(s.order)
	slices.Reverse(backwards)
	left, right := s.deviations(s.order), s.deviations(backwards)
	best, least := MinSide, int64(math.MaxInt64)
	for at := MinSide; at <= len(part)-MinSide; at++ {
		if d := left[at] + right[len(part)-at]; d < least {
			best, least = at, d
		}
	}
	return from + best
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// scan measures the steps of a part of a series and of its permutations.
type scan struct {
	// order has each value's index among the distinct values, from 1.
	order []int
	// levels are the distinct values, away each one's summed distance from all values; both from 1.
	levels, away []int64
	pairs        int64
	tree         []node
	all          node
}

// node is a node of a Fenwick tree.
type node struct{ count, sum int64 }

func newScan(whole []int64) *scan {
	distinct := slices.Compact(slices.Sorted(slices.Values(whole)))
	s := &scan{levels: append([]int64{0}, distinct...), tree: make([]node, len(distinct)+1), away: make([]int64, len(distinct)+1)}
	for _, v := range whole {
		i, _ := slices.BinarySearch(distinct, v)
		s.order = append(s.order, i+1)
		s.add(i + 1)
	}
	for _, i := range s.order {
		s.away[i] = s.distance(i)
		s.pairs += s.away[i]
	}
	s.pairs /= 2
	return s
}

// wholeOf returns values as whole numbers. Values far from the median are drawn nearer first, so an outlier hides no
// step. If more than half of the values are equal, nothing counts as far.
func wholeOf(values []float64) []int64 {
	mid := median(values)
	var from []float64
	for _, v := range values {
		from = append(from, math.Abs(v-mid))
	}
	low, high := slices.Min(values), slices.Max(values)
	if spread := median(from); spread > 0 {
		low, high = max(low, mid-far*spread), min(high, mid+far*spread)
	}
	return grained(values, low, high, grains)
}

func grained(values []float64, low, high, steps float64) []int64 {
	var whole []int64
	for _, v := range values {
		share := 0.0
		if high > low {
			share = (min(max(v, low), high) - low) / (high - low)
		}
		whole = append(whole, int64(math.Round(share*steps)))
	}
	return whole
}

func (s *scan) add(value int) {
	s.all.count++
	s.all.sum += s.levels[value]
	for i := value; i < len(s.tree); i += i & -i {
		s.tree[i].count++
		s.tree[i].sum += s.levels[value]
	}
}

// upTo returns the number and the sum of the tree's values up to one.
func (s *scan) upTo(value int) (count, sum int64) {
	for i := value; i > 0; i -= i & -i {
		count += s.tree[i].count
		sum += s.tree[i].sum
	}
	return count, sum
}

// distance returns the summed distance of a value from those in the tree.
func (s *scan) distance(value int) int64 {
	count, sum := s.upTo(value)
	r := s.levels[value]
	return r*count - sum + (s.all.sum - sum) - r*(s.all.count-count)
}

// lowest returns the sum of the lowest values in the tree.
func (s *scan) lowest(number int64) int64 {
	at, sum := 0, int64(0)
	for step := 1 << bits.Len(uint(len(s.tree))); step > 0; step >>= 1 {
		if next := at + step; next < len(s.tree) && s.tree[next].count <= number {
			at, number, sum = next, number-s.tree[next].count, sum+s.tree[next].sum
		}
	}
	if number > 0 {
		sum += number * s.levels[at+1]
	}
	return sum
}

// deviations returns, for each number of first values, their summed distance from their median.
func (s *scan) deviations(order []int) []int64 {
	s.empty()
	all := []int64{0}
	for i, value := range order {
		s.add(value)
		n := int64(i + 1)
		all = append(all, s.all.sum-s.lowest(n-n/2)-s.lowest(n/2))
	}
	return all
}

func (s *scan) empty() {
	clear(s.tree)
	s.all = node{}
}

// sides visits the places of a step in an order, until enough returns true, with the number of values before it and
// the summed pair distances on either side.
func (s *scan) sides(order []int, enough func(at int, left, right int64) bool) {
	s.empty()
	left, right := int64(0), s.pairs
	for i, value := range order {
		if i >= MinSide && len(order)-i >= MinSide && enough(i, left, right) {
			return
		}
		d := s.distance(value)
		left += d
		right -= s.away[value] - d
		s.add(value)
	}
}

// best returns the largest step of an order: the index of its first value, and its energy.
func (s *scan) best(order []int) (at int, energy float64) {
	energy = math.Inf(-1)
	n := int64(len(order))
	s.sides(order, func(i int, left, right int64) bool {
		if e := energyOf(int64(i), n-int64(i), left, right, s.pairs); e > energy {
			at, energy = i, e
		}
		return false
	})
	return at, energy
}

// weights returns how much the sums of either side lower the energy of a step, by place; see energyOf.
func weights(values int) (left, right []float64) {
	all := float64(values)
	left, right = make([]float64, values), make([]float64, values)
	for i := MinSide; i <= values-MinSide; i++ {
		m, n := float64(i), float64(values-i)
		left[i], right[i] = 2/all+2*n/(all*(m-1)), 2/all+2*m/(all*(n-1))
	}
	return left, right
}

// energyOf is the statistic of a step between m and n values, from the summed distances of the pairs on either side,
// and of all pairs. The conversions prevent fused operations, which round differently.
func energyOf(m, n, left, right, pairs int64) float64 {
	between := 2 * float64(pairs-left-right) / float64(m*n)
	within := 2*float64(left)/float64(m*(m-1)) + 2*float64(right)/float64(n*(n-1))
	return float64(float64(m*n)/float64(m+n)) * float64(between-within)
}

// test returns the largest step, and the share of permutations with one as large; 1 as soon as it must exceed alpha.
func (s *scan) test(alpha float64) (at int, p float64) {
	at, energy := s.best(s.order)
	permutations := int(math.Ceil(resolution/alpha)) - 1
	order, rng := slices.Clone(s.order), generator(s.seed())
	hasAsLarge := s.comparing(energy)
	asLarge := 1
	for range permutations {
		rng.shuffle(order)
		if hasAsLarge(order) {
			asLarge++
		}
		if p = float64(asLarge) / float64(permutations+1); p > alpha {
			return at, 1
		}
	}
	return at, p
}

// comparing returns a function that reports whether an order has a step of this energy. Three products rule out
// nearly all places; their error is below the slack.
func (s *scan) comparing(energy float64) func(order []int) bool {
	n := int64(len(s.order))
	lefts, rights := weights(len(s.order))
	whole := 2 * float64(s.pairs) / float64(n)
	slack := 1e-9 * float64(n) * float64(s.levels[len(s.levels)-1]-s.levels[1])
	return func(order []int) bool {
		found := false
		s.sides(order, func(i int, left, right int64) bool {
			if whole-lefts[i]*float64(left)-rights[i]*float64(right) < energy-slack {
				return false
			}
			found = energyOf(int64(i), n-int64(i), left, right, s.pairs) >= energy
			return found
		})
		return found
	}
}

// seed follows from the order of the values (FNV-1a).
func (s *scan) seed() uint64 {
	h := uint64(14695981039346656037)
	for _, i := range s.order {
		h = (h ^ uint64(i)) * 1099511628211
	}
	return h
}

// generator is SplitMix64: the same numbers on every machine and in every version.
type generator uint64

func (g *generator) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// shuffle permutes values (Fisher and Yates).
func (g *generator) shuffle(values []int) {
	for i := len(values) - 1; i > 0; i-- {
		j, _ := bits.Mul64(g.next(), uint64(i+1))
		values[i], values[j] = values[j], values[i]
	}
}
