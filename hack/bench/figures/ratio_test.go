package figures

import (
	"math"
	"testing"
)

func TestGeometricMeanAndItsInterval(t *testing.T) {
	// Logs 0.1, 0.2 and 0.3: mean 0.2, standard deviation 0.1, and t of 0.995 with two degrees of freedom is 9.9248.
	got, err := Geometric([]float64{math.Exp(0.1), math.Exp(0.3), math.Exp(0.2)})
	if err != nil {
		t.Fatal(err)
	}
	half := 9.92484 * 0.1 / math.Sqrt(3)
	for name, tc := range map[string]struct{ got, want float64 }{
		"mean": {got.Mean, math.Exp(0.2)}, "low": {got.Low, math.Exp(0.2 - half)}, "high": {got.High, math.Exp(0.2 + half)},
	} {
		if math.Abs(tc.got-tc.want) > 1e-5 {
			t.Errorf("%s: got %f, want %f", name, tc.got, tc.want)
		}
	}
}

func TestThereIsNoIntervalOfOnePairOrOfNothingMeasured(t *testing.T) {
	for name, ratios := range map[string][]float64{"one pair": {1}, "a zero": {1, 0}, "not a number": {1, math.NaN()}, "infinite": {1, math.Inf(1)}} {
		if got, err := Geometric(ratios); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
