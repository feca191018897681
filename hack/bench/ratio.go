package main

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is that of the intervals that are printed.
const confidence = 0.99

// interval is a geometric mean of ratios with the interval of the paired t on their logs.
type interval struct{ mean, low, high float64 }

// geometric needs two ratios or more, all of them positive.
func geometric(ratios []float64) (interval, error) {
	n := float64(len(ratios))
	if n < 2 {
		return interval{}, errors.New("computing an interval: fewer than two pairs")
	}
	var sum, squares float64
	for _, r := range ratios {
		if !(r > 0) {
			return interval{}, errors.New("computing an interval: a ratio is not positive")
		}
		sum += math.Log(r)
	}
	mean := sum / n
	for _, r := range ratios {
		squares += (math.Log(r) - mean) * (math.Log(r) - mean)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - (1-confidence)/2)
	half := t * math.Sqrt(squares/(n-1)/n)
	return interval{math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)}, nil
}
