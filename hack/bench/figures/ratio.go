package figures

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of the intervals that are printed.
const Confidence = 0.99

// Interval is a geometric mean of ratios with the interval of the paired t on their logs.
type Interval struct{ Mean, Low, High float64 }

// String is the interval as the note of a figure has it.
func (i Interval) String() string {
	return fmt.Sprintf("%.0f %% interval %.4g to %.4g", 100*Confidence, i.Low, i.High)
}

// Geometric needs two ratios or more, all of them positive.
func Geometric(ratios []float64) (Interval, error) {
	n := float64(len(ratios))
	if n < 2 {
		return Interval{}, errors.New("computing an interval: fewer than two pairs")
	}
	var sum, squares float64
	for _, r := range ratios {
		if !(r > 0) || math.IsInf(r, 1) {
			return Interval{}, errors.New("computing an interval: a ratio is not positive and finite")
		}
		sum += math.Log(r)
	}
	mean := sum / n
	for _, r := range ratios {
		squares += (math.Log(r) - mean) * (math.Log(r) - mean)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - (1-Confidence)/2)
	half := t * math.Sqrt(squares/(n-1)/n)
	return Interval{math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)}, nil
}
