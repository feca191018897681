package inference

import (
	"math"
	"slices"
)

const (
	// LeastRounds is how many readings a monitor needs before it can find a change.
	LeastRounds = 10
	// shiftSD is the prior standard deviation of a change, in standard deviations of a reading.
	shiftSD = 2
	// suspected is the share of the odds that the reading before must have had.
	suspected = 0.1
	// clipped is the most that a reading counts, in robust standard deviations from the median of those before. If the
	// reading before was as far on the same side, this is no outlier, and far is the most.
	clipped, far = 3, 50
	// newest is how many readings back a change can have happened, and how many readings clip the next one.
	newest = 100
	// finest is the standard deviation of the noise that is added, as a share of the smallest change of interest.
	// Without it, equal readings would be proof.
	finest = 0.05
	// golden spreads the added noise evenly, and the same for every history.
	golden = 0.6180339887498949
	// faint is the logarithm of a likelihood that no longer matters.
	faint = -20
)

// noise is a kind of noise: the correlation of neighboring readings, and the share of the variance that readings of equal inputs have in common.
type noise struct{ correlation, common float64 }

var noises = []noise{{0, 0}, {0, 0.5}, {0, 0.9}, {0.3, 0}, {0.3, 0.5}, {0.3, 0.9}, {0.6, 0}, {0.6, 0.5}, {0.6, 0.9}}

// Reading is the value of one round.
type Reading struct {
	// Log is the logarithm of the value.
	Log float64
	// Repeated: the inputs are those of the reading before, so no change can begin here.
	Repeated bool
}

// Monitor looks for changes of level after every reading. It sums, over every place where a change can have begun,
// the odds of that change against none (a Shiryaev-Roberts statistic of Bayes factors). Mean and variance are
// unknown: the factors do not depend on them. The kinds of noise are equally likely beforehand, with a change and
// without.
//
// Without a change, the sum grows by at most one per reading in the mean. So the mean number of readings until it
// reaches Odds is at least Odds, over normal noise of all these kinds. What that means for each kind of noise, and
// for noise that is none of them, TestUnchangedSuiteKeepsGateOpen and make bench-stats simulate.
type Monitor struct {
	// Odds are the summed odds that make a change. The reading before must have had a tenth of them.
	Odds float64
	// Least is the smallest change of interest, as a logarithm: the medians on both sides differ by as much.
	Least float64
}

// Change is a change of level.
type Change struct {
	// At is the index of the first reading of the new level, Found that of the reading that confirmed the change.
	At, Found int
}

// Find returns the changes in readings, in order. Whether a change is found follows from the readings up to Found;
// At is where it fits all readings best.
func (m Monitor) Find(readings []Reading) []Change {
	var all []Change
	for from := 0; ; {
		c, found := m.next(readings[from:])
		if !found {
			break
		}
		c.At, c.Found = c.At+from, c.Found+from
		from = c.At
		all = append(all, c)
	}
	for i := range all {
		from, to := 0, len(readings)
		if i > 0 {
			from = all[i-1].At
		}
		if i+1 < len(all) {
			to = all[i+1].At
		}
		all[i].At = place(readings, all[i], from, to)
	}
	return all
}

func place(readings []Reading, c Change, from, to int) int {
	best, least := c.At, math.Inf(1)
	for at := from + 1; at < min(c.Found+1, to); at++ {
		if readings[at].Repeated {
			continue
		}
		if d := away(readings[from:at]) + away(readings[at:to]); d < least {
			best, least = at, d
		}
	}
	return best
}

func away(readings []Reading) (sum float64) {
	mid := Middle(readings)
	for _, r := range readings {
		sum += math.Abs(r.Log - mid)
	}
	return sum
}

// Middle returns the median of at least one reading.
func Middle(readings []Reading) float64 {
	var logs []float64
	for _, r := range readings {
		logs = append(logs, r.Log)
	}
	return Median(logs)
}

func (m Monitor) next(readings []Reading) (c Change, found bool) {
	if len(readings) < LeastRounds {
		return c, false
	}
	w := watch{filters: make([]filter, len(noises))}
	before := 0.0 // The odds of the reading before, negative for a change downwards.
	for i, r := range readings {
		_, part := math.Modf(float64(i) * golden)
		w.add(m.clip(readings, i)+m.Least*finest*math.Sqrt(12)*(part-0.5), r.Repeated && i > 0)
		at, odds := w.odds()
		step := 0.0
		if at > 0 {
			step = Middle(readings[at:i+1]) - Middle(readings[:at])
		}
		if i+1 < LeastRounds || math.Abs(step) < m.Least {
			odds = 0
		}
		if odds >= m.Odds && before*math.Copysign(1, step) >= suspected*m.Odds && at < i {
			return Change{at, i}, true
		}
		before = math.Copysign(odds, step)
	}
	return c, false
}

func (m Monitor) clip(readings []Reading, i int) float64 {
	before := readings[max(0, i-newest):max(i, LeastRounds-1)]
	mid := Middle(before)
	distances := make([]float64, len(before))
	for k, r := range before {
		distances[k] = math.Abs(r.Log - mid)
	}
	scale := max(1.4826*Median(distances), m.Least*finest)
	away, most := readings[i].Log-mid, clipped*scale
	if i > 0 && (readings[i-1].Log-mid)*math.Copysign(1, away) > most {
		most = far * scale
	}
	return mid + min(max(away, -most), most)
}

type watch struct {
	filters []filter
	starts  []int
	n       int
}

// filter whitens readings for one kind of noise (a Kalman filter of the inputs' part and the autocorrelated part).
type filter struct {
	// inputs, rest and both are the variances of the two parts and their covariance; logs is the sum of the logarithms
	// of the errors' variances.
	inputs, rest, both, logs float64
	value, level             column
	steps                    []step
	// vv, vl and ll are sums of products of whitened values and levels.
	vv, vl, ll float64
}

// column is what the filter expects next of a series, by part.
type column struct{ inputs, rest float64 }

// step is a change of one from a reading on, with its sums of products.
type step struct {
	column
	ss, sv, sl float64
}

func (w *watch) add(value float64, repeated bool) {
	if !repeated && w.n > 0 {
		w.starts = append(w.starts, w.n)
	}
	old := 0
	for old < len(w.starts) && w.starts[old] < w.n-newest {
		old++
	}
	w.starts = w.starts[old:]
	for i := range w.filters {
		f := &w.filters[i]
		if !repeated && w.n > 0 {
			f.steps = append(f.steps, step{})
		}
		f.steps = f.steps[old:]
		f.add(noises[i], value, repeated, w.n == 0)
	}
	w.n++
}

func (f *filter) add(k noise, value float64, repeated, first bool) {
	if !repeated {
		f.inputs, f.both = k.common, 0
	}
	if first {
		f.rest = 1 - k.common
	} else {
		f.both *= k.correlation
		f.rest = k.correlation*k.correlation*f.rest + (1-k.common)*(1-k.correlation*k.correlation)
	}
	variance := f.inputs + 2*f.both + f.rest
	gainInputs, gainRest, scale := (f.inputs+f.both)/variance, (f.both+f.rest)/variance, 1/math.Sqrt(variance)
	white := func(c *column, x float64) float64 {
		if !repeated {
			c.inputs = 0
		}
		c.rest *= k.correlation
		e := x - c.inputs - c.rest
		c.inputs += gainInputs * e
		c.rest += gainRest * e
		return e * scale
	}
	v, l := white(&f.value, value), white(&f.level, 1)
	f.vv, f.vl, f.ll = f.vv+v*v, f.vl+v*l, f.ll+l*l
	for i := range f.steps {
		s := &f.steps[i]
		e := white(&s.column, 1)
		s.ss, s.sv, s.sl = s.ss+e*e, s.sv+e*v, s.sl+e*l
	}
	f.logs += math.Log(variance)
	f.inputs, f.both, f.rest = f.inputs-gainInputs*gainInputs*variance, f.both-gainInputs*gainRest*variance, f.rest-gainRest*gainRest*variance
}

// odds returns the most likely beginning of a change, and the summed odds of all changes against none.
func (w *watch) odds() (at int, odds float64) {
	if len(w.starts) == 0 || w.n < 3 {
		return 0, 0
	}
	freedom := float64(w.n - 1)
	none, left := make([]float64, len(w.filters)), make([]float64, len(w.filters))
	for i, f := range w.filters {
		left[i] = f.vv - f.vl*f.vl/f.ll
		none[i] = -f.logs/2 - math.Log(f.ll)/2 - freedom/2*math.Log(left[i])
	}
	most, all := slices.Max(none), 0.0
	for i := range none {
		none[i] -= most
		all += math.Exp(none[i])
	}
	best := 0.0
	for j, start := range w.starts {
		sum := 0.0
		for i := range w.filters {
			f := &w.filters[i]
			if none[i] > faint {
				sum += math.Exp(none[i] + f.steps[j].factor(f, left[i], freedom))
			}
		}
		if sum > best {
			at, best = start, sum
		}
		odds += sum / all
	}
	return at, odds
}

// factor is the logarithm of the Bayes factor of a change: its size is normal with shiftSD, in units of the noise.
func (s step) factor(f *filter, left, freedom float64) float64 {
	own, shared := s.ss-s.sl*s.sl/f.ll, s.sv-s.sl*f.vl/f.ll
	if own <= 0 {
		return 0
	}
	wide := 1 + shiftSD*shiftSD*own
	return -math.Log(wide)/2 - freedom/2*math.Log1p(-min(shared*shared/own/left, 1)*(1-1/wide))
}
