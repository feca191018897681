package inference

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

const (
	// Alpha is the probability of any false verdict in a run. It is one in a hundred, since a run has many
	// comparisons that few readers count.
	Alpha = 0.01
	// Confidence is that of every interval: 1 - Alpha.
	Confidence = 1 - Alpha
	// Power is the share of runs that find the smallest detectable difference.
	Power = 0.8
	// EquivalenceMargin is how far from 1 the interval may reach for NoDifference.
	EquivalenceMargin = 0.05
	// SamplesBeyond is how many samples must lie above a quantile for it to be known; with ten, its rank is good to
	// about a third.
	SamplesBeyond = 10
	// maxBlocksNeeded bounds the search for a deciding number of blocks.
	maxBlocksNeeded = 1000
)

// TQuantile returns the p-quantile of Student's t: freedom / (freedom + t²) has the distribution Beta(freedom/2,
// 1/2).
func TQuantile(p, freedom float64) float64 {
	if p > 0.5 {
		return -TQuantile(1-p, freedom)
	}
	x := BetaQuantile(2*p, freedom/2, 0.5)
	return -math.Sqrt(freedom * (1 - x) / x)
}

func tTwoSided(t, freedom float64) float64 {
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// BetaQuantile returns the p-quantile of a Beta distribution.
func BetaQuantile(p, alpha, beta float64) float64 { return mathext.InvRegIncBeta(alpha, beta, p) }

// Moments returns the mean and the sample standard deviation, which is 0 for a single value.
func Moments(values []float64) (mean, sd float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1))
}

// meanInterval is for a mean of positive values: Student's t on the log of the mean, with the mean's relative standard
// error (delta method). It always holds the printed arithmetic mean, agrees with the plain t interval under small
// noise, and cannot reach below zero.
func meanInterval(mean, sd float64, n int) (low, high float64) {
	reach := math.Exp(TQuantile(1-Alpha/2, float64(n-1)) * sd / mean / math.Sqrt(float64(n)))
	return mean / reach, mean * reach
}

// PlainInterval returns Student's t interval of a mean whose values may be zero or negative.
func PlainInterval(mean, sd float64, n int) (low, high float64) {
	half := TQuantile(1-Alpha/2, float64(n-1)) * sd / math.Sqrt(float64(n))
	return mean - half, mean + half
}

// Summary describes values over blocks. Low and High are the mean's interval (Student's t on the log of the mean,
// Confidence). It shows one implementation's noise; comparisons use blocks. It is nil below three values and if a
// value is not positive. High alone is nil if values are lower bounds.
type Summary struct {
	N              int      `json:"n"`
	Mean           float64  `json:"mean"`
	Min            float64  `json:"min"`
	Max            float64  `json:"max"`
	StdDev         *float64 `json:"stdDev,omitempty"`
	RelativeStdDev *float64 `json:"relativeStdDev,omitempty"`
	Low            *float64 `json:"low,omitempty"`
	High           *float64 `json:"high,omitempty"`
}

// Summarise describes values; nil if there are none. Fewer than MinPairs have no interval, since two values would
// give hundreds of percent, nor do values that are not all positive.
func Summarise(values []float64) *Summary {
	if len(values) == 0 {
		return nil
	}
	mean, sd := Moments(values)
	s := Summary{N: len(values), Mean: mean, Min: values[0], Max: values[0]}
	for _, v := range values {
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	if s.N < 2 {
		return &s
	}
	s.StdDev = &sd
	if mean > 0 {
		relative := sd / mean
		s.RelativeStdDev = &relative
	}
	if s.N >= MinPairs && s.Min > 0 {
		low, high := meanInterval(mean, sd, s.N)
		s.Low, s.High = &low, &high
	}
	return &s
}

// Median returns the middle value, or the mean of the two in the middle; 0 for none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
