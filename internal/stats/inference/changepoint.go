package inference

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// far is how many median absolute deviations from the median a value counts at most: five standard deviations of a normal distribution.
	far = 5 * 1.4826
	// grains is how many steps there are between the least and the largest value of a part whose steps are measured, and fine of one whose step is
	// placed: the sum of so many values does not overflow.
	grains, fine = 1 << 20, 1 << 40
)

// MinSide is the least number of values on either side of a point.
const MinSide = 3

// resolution is how many permutations there are for each that may be as extreme as the series by chance.
const resolution = 2

// Point is a change of level.
type Point struct {
	// At is the index of the first value of the new level.
	At int `json:"at"`
	// Before and After are the medians of the two levels, from the point before to the point after, and their numbers of values.
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	BeforeN int     `json:"beforeN"`
	AfterN  int     `json:"afterN"`
	// P is the share of permutations of its part of the series in which some step is as large.
	P float64 `json:"p"`
}

// Fewest is how many values a series needs for any step to be found: with fewer, chance orders them so more often than alpha.
func Fewest(alpha float64) int {
	n, ways := 2*MinSide, 20.0 // The number of ways in which half of six values can come first.
	for 2/ways > alpha {
		n++
		ways *= float64(n) / float64(n-n/2)
	}
	return n
}

// Find returns the points of a series in their order. Values are finite; alpha is between 0 and 1.
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

// around is from where to where the two levels of a point reach.
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

// place is where the one step of a part fits best: where its values are nearest to the medians of their sides. Bisection by itself is drawn towards
// the middle of what it divides.
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

// scan measures the steps of a part of a series, and of its permutations.
type scan struct {
	// order has the index of each value among the distinct values, from 1 on.
	order []int
	// levels are the distinct values, and away the sum of the distances of each from all values; both from 1 on.
	levels, away []int64
	// pairs is the sum of the distances of all pairs.
	pairs int64
	tree  []node
	// all is how many values the tree holds, and their sum.
	all node
}

// node is a node of a Fenwick tree: how many values it holds, and their sum.
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

// wholeOf are values as whole numbers, from the least to the largest. What lies far from the median is drawn nearer first: an outlier must not
// hide a step. Where more than half of the values are the same, there is no measure of what is far.
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

// grained are values as numbers of steps from low, of which there are some up to high.
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

// add puts a value into the tree.
func (s *scan) add(value int) {
	s.all.count++
	s.all.sum += s.levels[value]
	for i := value; i < len(s.tree); i += i & -i {
		s.tree[i].count++
		s.tree[i].sum += s.levels[value]
	}
}

// upTo is how many values of the tree come up to one, and their sum.
func (s *scan) upTo(value int) (count, sum int64) {
	for i := value; i > 0; i -= i & -i {
		count += s.tree[i].count
		sum += s.tree[i].sum
	}
	return count, sum
}

// distance is the sum of the distances of a value from those of the tree.
func (s *scan) distance(value int) int64 {
	count, sum := s.upTo(value)
	r := s.levels[value]
	return r*count - sum + (s.all.sum - sum) - r*(s.all.count-count)
}

// lowest is the sum of some of the lowest values of the tree.
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

// deviations are the sums of the distances of the first values of an order from their median, by how many values those are.
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

// empty takes all values out of the tree.
func (s *scan) empty() {
	clear(s.tree)
	s.all = node{}
}

// sides goes through the places of a step in an order of the values, until one is enough: with how many values come before it, and the sums of the
// distances of the pairs on either side.
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

// best is the largest step of an order of the values: the index of its first value, and its energy.
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

// weights are those by which the sums of either side lower the energy of a step, by its place; see energyOf.
func weights(values int) (left, right []float64) {
	all := float64(values)
	left, right = make([]float64, values), make([]float64, values)
	for i := MinSide; i <= values-MinSide; i++ {
		m, n := float64(i), float64(values-i)
		left[i], right[i] = 2/all+2*n/(all*(m-1)), 2/all+2*m/(all*(n-1))
	}
	return left, right
}

// energyOf is the statistic of a step between m and n values, from the sums of the distances of the pairs on either side, and of all pairs. The
// conversions keep machines from fusing operations, which would round in another way.
func energyOf(m, n, left, right, pairs int64) float64 {
	between := 2 * float64(pairs-left-right) / float64(m*n)
	within := 2*float64(left)/float64(m*(m-1)) + 2*float64(right)/float64(n*(n-1))
	return float64(float64(m*n)/float64(m+n)) * float64(between-within)
}

// test returns the largest step, and the share of orders of the same values that have one as large; 1 as soon as it must be more than alpha.
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

// comparing finds whether an order has a step of some energy. Nearly all places of nearly all orders have far less, for which three products will do:
// what these may be wrong by is less than the slack.
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

// generator is SplitMix64: the same numbers on every machine, and in every version of this program.
type generator uint64

func (g *generator) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// shuffle puts values into a random order (Fisher and Yates).
func (g *generator) shuffle(values []int) {
	for i := len(values) - 1; i > 0; i-- {
		j, _ := bits.Mul64(g.next(), uint64(i+1))
		values[i], values[j] = values[j], values[i]
	}
}
