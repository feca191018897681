package inference

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHolmWithWeights(t *testing.T) {
	for name, tc := range map[string]struct{ ps, weights, want []float64 }{
		"the textbook's four with equal weights":    {[]float64{0.01, 0.04, 0.03, 0.005}, []float64{.25, .25, .25, .25}, []float64{0.03, 0.06, 0.06, 0.02}},
		"one alone stays as it is":                  {[]float64{0.2}, []float64{1}, []float64{0.2}},
		"none is more than certain":                 {[]float64{0.9, 0.8}, []float64{.5, .5}, []float64{1, 1}},
		"a later one is never below an earlier":     {[]float64{0.02, 0.021}, []float64{.5, .5}, []float64{0.04, 0.04}},
		"who has three quarters pays four thirds":   {[]float64{0.003, 0.5}, []float64{.75, .25}, []float64{0.004, 0.5}},
		"who has one quarter pays four times":       {[]float64{0.5, 0.003}, []float64{.75, .25}, []float64{0.5, 0.012}},
		"a weight that was spent goes to the other": {[]float64{0.001, 0.003}, []float64{.75, .25}, []float64{0.001 / 0.75, 0.003}},
	} {
		t.Run(name, func(t *testing.T) {
			var tests []Test
			for k := range tc.ps {
				tests = append(tests, Test{tc.ps[k], tc.weights[k]})
			}
			if diff := cmp.Diff(tc.want, Holm(tests, 1), within(1e-12)); diff != "" {
				t.Errorf("adjusted p (-want +got):\n%s", diff)
			}
		})
	}
}
