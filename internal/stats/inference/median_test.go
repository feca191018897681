package inference_test

import (
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/stats/inference"
)

func TestTheMedianIsTheMiddleOfSortedValues(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   float64
	}{
		"none":                      {nil, 0},
		"one":                       {[]float64{3}, 3},
		"two":                       {[]float64{1, 4}, 2.5},
		"three in no order":         {[]float64{9, 1, 5}, 5},
		"four with one far away":    {[]float64{1000, 1, 3, 2}, 2.5},
		"the same value many times": {[]float64{2, 2, 2, 7}, 2},
		"values of 0":               {[]float64{0, 0, 4}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.values)
			if got := inference.Median(tc.values); got != tc.want {
				t.Errorf("got %g, want %g", got, tc.want)
			}
			if !slices.Equal(before, tc.values) {
				t.Errorf("the caller's values are now %v", tc.values)
			}
		})
	}
}
