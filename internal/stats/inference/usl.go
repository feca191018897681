package inference

import (
	"math"
	"math/bits"
	"slices"
)

// USL holds the parameters of the Universal Scalability Law,
//
//	X(N) = λN / (1 + σ(N-1) + κN(N-1))
//
// whose throughput X is largest at N = √((1-σ)/κ).
type USL struct {
	// Lambda is the throughput of one connection in requests/s, Sigma the serial share of the work (contention),
	// Kappa the cost of each pair of connections (coherence). Sigma and Kappa are at least 0.
	Lambda float64 `json:"lambdaRequestsPerSecond"`
	Sigma  float64 `json:"sigma"`
	Kappa  float64 `json:"kappa"`
	// R2 is the share of the variance of log X that the curve explains.
	R2 float64 `json:"r2"`
}

// At returns the curve's throughput at n connections, in requests/s.
func (u USL) At(n float64) float64 {
	return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
}

// Peak returns the connections at the curve's highest point; infinite if it never falls.
func (u USL) Peak() float64 {
	if u.Kappa <= 0 {
		return math.Inf(1)
	}
	return math.Sqrt(max(1-u.Sigma, 0) / u.Kappa)
}

type uslPoint struct {
	n, logX, weight float64
}

// uslTerms is the number of coefficients, uslSteps the most iterations (a linear start needs about five),
// uslTolerance the relative change of the cost that ends them.
const (
	uslTerms     = 3
	uslSteps     = 50
	uslTolerance = 1e-12
)

// uslFit holds the basis of the fit: N/X is linear in 1, N-1 and N(N-1). Each is divided by its largest value, so the
// normal equations are well conditioned.
type uslFit struct {
	points []uslPoint
	scale  [uslTerms]float64
}

// FitUSL fits the law to the throughputs of levels. ok is false if there is no fit.
func FitUSL(levels []BlockRates) (u USL, ok bool) { return fitPoints(uslPoints(levels, nil)) }

// fitPoints fits log throughputs by weighted least squares, since their noise is relative. Coefficients may not be
// negative: of the fits with some fixed at 0, the best feasible one is taken. ok is false if there is none.
func fitPoints(points []uslPoint) (u USL, ok bool) {
	f := uslFit{points: points, scale: [uslTerms]float64{1, 0, 0}}
	for _, p := range points {
		f.scale[1] = max(f.scale[1], p.n-1)
		f.scale[2] = max(f.scale[2], p.n*(p.n-1))
	}
	if len(points) < uslTerms || f.scale[1] <= 0 {
		return USL{}, false
	}
	best := math.Inf(1)
	var theta [uslTerms]float64
	for _, free := range [][]int{{0, 1, 2}, {0, 2}, {0, 1}, {0}} {
		t, cost, feasible := f.solve(free)
		if feasible && cost < best*(1-uslTolerance) {
			best, theta, ok = cost, t, true
		}
	}
	if !ok {
		return USL{}, false
	}
	u = USL{Lambda: f.scale[0] / theta[0]}
	u.Sigma = theta[1] / f.scale[1] * u.Lambda
	u.Kappa = theta[2] / f.scale[2] * u.Lambda
	u.R2 = f.explained(best)
	return u, true
}

func (f uslFit) terms(n float64) [uslTerms]float64 {
	return [uslTerms]float64{1 / f.scale[0], (n - 1) / f.scale[1], n * (n - 1) / f.scale[2]}
}

// solve fits the free coefficients: a linear start on N/X with relative weights, then Levenberg and Marquardt's steps
// on logs.
func (f uslFit) solve(free []int) (theta [uslTerms]float64, cost float64, feasible bool) {
	start, ok := f.normal(free, 0, func(p uslPoint) (residual, slope float64) {
		x := math.Exp(p.logX) / p.n
		return 1, x // The aim is N/X times X/N = 1.
	})
	if !ok {
		return theta, 0, false
	}
	theta = start
	cost = f.cost(theta)
	damping := 1e-3
	for range uslSteps {
		if math.IsInf(cost, 1) {
			return theta, cost, false
		}
		step, ok := f.normal(free, damping, func(p uslPoint) (residual, slope float64) {
			v := dot(theta, f.terms(p.n))
			return math.Log(p.n) - p.logX - math.Log(v), 1 / v
		})
		next := theta
		for k := range next {
			next[k] += step[k]
		}
		c := f.cost(next)
		if !ok || c > cost {
			damping *= 10
			if damping > 1e12 {
				break
			}
			continue
		}
		done := cost-c <= uslTolerance*cost
		theta, cost, damping = next, c, damping/10
		if done {
			break
		}
	}
	return theta, cost, theta[0] > 0 && theta[1] >= 0 && theta[2] >= 0
}

// normal solves the weighted normal equations of residual = slope * (terms · step) for the free coefficients.
func (f uslFit) normal(free []int, damping float64, at func(uslPoint) (residual, slope float64)) (step [uslTerms]float64, ok bool) {
	n := len(free)
	var a uslMatrix
	var b [uslTerms]float64
	for _, p := range f.points {
		residual, slope := at(p)
		t := f.terms(p.n)
		for i, ti := range free {
			b[i] += p.weight * slope * t[ti] * residual
			for j := range i + 1 {
				a[i][j] += p.weight * slope * slope * t[ti] * t[free[j]]
			}
		}
	}
	for i := range n {
		a[i][i] *= 1 + damping
	}
	if !a.solve(n, &b) {
		return step, false
	}
	for i, k := range free {
		step[k] = b[i]
	}
	return step, true
}

// uslMatrix is the lower half of a symmetric matrix.
type uslMatrix [uslTerms][uslTerms]float64

// singular is the rounding error of a diagonal element: below it, the points do not tell the terms apart.
const singular = 1e-14

// solve puts the solution of the first n equations into b, by Cholesky's method in place; false if there is none.
func (a *uslMatrix) solve(n int, b *[uslTerms]float64) bool {
	for i := range n {
		for j := range i {
			for k := range j {
				a[i][j] -= a[i][k] * a[j][k]
			}
			a[i][j] /= a[j][j]
			b[i] -= a[i][j] * b[j]
		}
		pivot := a[i][i]
		for k := range i {
			pivot -= a[i][k] * a[i][k]
		}
		if !(pivot > singular*a[i][i]) {
			return false
		}
		a[i][i] = math.Sqrt(pivot)
		b[i] /= a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= a[k][i] * b[k]
		}
		b[i] /= a[i][i]
	}
	return true
}

func (f uslFit) cost(theta [uslTerms]float64) float64 {
	var sum float64
	for _, p := range f.points {
		v := dot(theta, f.terms(p.n))
		if v <= 0 {
			return math.Inf(1)
		}
		r := math.Log(p.n) - math.Log(v) - p.logX
		sum += p.weight * r * r
	}
	return sum
}

func (f uslFit) explained(cost float64) float64 {
	var mean, weight, total float64
	for _, p := range f.points {
		mean += p.weight * p.logX
		weight += p.weight
	}
	mean /= weight
	for _, p := range f.points {
		total += p.weight * (p.logX - mean) * (p.logX - mean)
	}
	if total <= 0 {
		return 0
	}
	return 1 - cost/total
}

func dot(a, b [uslTerms]float64) float64 {
	return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]
}

// resamples is the number of resamples for an interval: the spread of 400 is known to about 4 %.
const resamples = 400

// PeakInterval returns the interval of the curve's peak at Confidence. It draws whole blocks with replacement, since the levels of a block share its
// noise. The interval is the spread of the resampled log peaks (16th to 84th percentile), widened by Student's t: plain percentiles err too often
// with ten blocks. ok is false if so many resamples have no peak that there is no upper end.
func PeakInterval(levels []BlockRates, blocks []int32, peak float64, seed uint64) (low, high float64, ok bool) {
	draw := splitMix(seed)
	logs := make([]float64, 0, resamples)
	endless := 0
	for range resamples {
		times := map[int32]float64{}
		for range blocks {
			times[blocks[draw.below(len(blocks))]]++
		}
		u, fitted := fitPoints(uslPoints(levels, times))
		p := u.Peak()
		if !fitted || p <= 0 || math.IsInf(p, 1) {
			endless++
			p = math.MaxFloat64
		}
		logs = append(logs, math.Log(p))
	}
	if float64(endless) > Alpha/2*resamples {
		return 0, 0, false
	}
	slices.Sort(logs)
	n := float64(len(blocks))
	spread := (logs[resamples*84/100] - logs[resamples*16/100]) / 2 * math.Sqrt(n/(n-1))
	half := TQuantile(1-Alpha/2, n-1) * spread
	return peak * math.Exp(-half), peak * math.Exp(half), true
}

// BlockRates are one level's throughputs by block, in requests/s.
type BlockRates struct {
	Connections int32
	Rates       map[int32]float64
}

func uslPoints(levels []BlockRates, times map[int32]float64) []uslPoint {
	var out []uslPoint
	for _, l := range levels {
		p := uslPoint{n: float64(l.Connections)}
		var blocks []int32
		for b := range l.Rates {
			blocks = append(blocks, b)
		}
		slices.Sort(blocks) // Sums depend on their order in the last digit.
		for _, b := range blocks {
			w := 1.0
			if times != nil {
				w = times[b]
			}
			p.weight += w
			p.logX += w * math.Log(l.Rates[b])
		}
		if p.weight > 0 {
			p.logX /= p.weight
			out = append(out, p)
		}
	}
	return out
}

// splitMix is a small random generator; equal seeds give equal numbers (SplitMix64 of Steele, Lea and Flood).
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1; its bias is less than n in 2^64.
func (s *splitMix) below(n int) int {
	high, _ := bits.Mul64(s.next(), uint64(n))
	return int(high)
}
