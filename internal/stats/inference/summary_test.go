package inference

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTheIntervalOfAMean(t *testing.T) {
	for name, tc := range map[string]struct {
		values         []float64
		none           bool
		low, high, ppm float64
	}{
		"of one value there is none":                         {values: []float64{80_000}, none: true},
		"of two values there is none":                        {values: []float64{83_000, 89_740}, none: true},
		"with a value of zero there is none":                 {values: []float64{0, 1, 2, 3}, none: true},
		"of equal values it has no width":                    {values: []float64{5, 5, 5}, low: 5, high: 5},
		"where the noise is small it is that of Student's t": {values: []float64{999, 1000, 1001, 1000}, low: 997.616, high: 1002.384, ppm: 5},
		"where it is large it stays above zero":              {values: []float64{100, 1000, 4000}, low: 1.7425, high: 1_658_547, ppm: 100},
	} {
		t.Run(name, func(t *testing.T) {
			s := Summarise(tc.values)
			if tc.none {
				if s.Low != nil || s.High != nil {
					t.Fatalf("it is %v to %v", *s.Low, *s.High)
				}
				return
			}
			if *s.Low <= 0 || *s.Low > s.Mean || *s.High < s.Mean {
				t.Errorf("%v to %v does not hold the mean %v, or more than can be", *s.Low, *s.High, s.Mean)
			}
			if diff := cmp.Diff([]float64{tc.low, tc.high}, []float64{*s.Low, *s.High}, cmpopts.EquateApprox(tc.ppm/1e6+1e-12, 0)); diff != "" {
				t.Errorf("interval (-want +got):\n%s", diff)
			}
		})
	}
}
