package inference

import (
	"math"
	"testing"
)

func TestAFitWithoutNoiseIsExact(t *testing.T) {
	for name, want := range map[string]USL{
		"contention and coherence": {Lambda: 20_000, Sigma: 0.05, Kappa: 0.002}, "coherence alone": {Lambda: 5, Kappa: 0.01}, "contention alone": {Lambda: 1e6, Sigma: 0.3}, "neither": {Lambda: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var points []uslPoint
			for _, n := range []int{1, 4, 16, 64, 256, 1024} {
				points = append(points, uslPoint{n: float64(n), logX: math.Log(want.At(float64(n))), weight: 1})
			}
			got, ok := fitPoints(points)
			if !ok || math.Abs(got.Lambda/want.Lambda-1) > 1e-6 || math.Abs(got.Sigma-want.Sigma) > 1e-6 || math.Abs(got.Kappa-want.Kappa) > 1e-9 {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestASystemOfEquationsIsSolvedOrSaidToHaveNoSolution(t *testing.T) {
	for name, tc := range map[string]struct {
		a    uslMatrix
		b    [uslTerms]float64
		n    int
		want [uslTerms]float64
		ok   bool
	}{
		"one equation":              {a: uslMatrix{{4}}, b: [uslTerms]float64{8}, n: 1, want: [uslTerms]float64{2}, ok: true},
		"three":                     {a: uslMatrix{{4}, {2, 5}, {1, 3, 6}}, b: [uslTerms]float64{11, 21, 25}, n: 3, want: [uslTerms]float64{1, 2, 3}, ok: true},
		"the first two of three":    {a: uslMatrix{{4}, {2, 5}, {1, 3, 6}}, b: [uslTerms]float64{8, 12, 7}, n: 2, want: [uslTerms]float64{1, 2, 7}, ok: true},
		"two that are the same":     {a: uslMatrix{{1}, {1, 1}}, b: [uslTerms]float64{1, 1}, n: 2},
		"two that are almost so":    {a: uslMatrix{{1}, {1, 1 + 1e-15}}, b: [uslTerms]float64{1, 1}, n: 2},
		"one without a coefficient": {n: 1},
		"one that is no number":     {a: uslMatrix{{math.NaN()}}, n: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := tc.b
			ok := tc.a.solve(tc.n, &b)
			for i := range b {
				if ok != tc.ok || ok && math.Abs(b[i]-tc.want[i]) > 1e-12 {
					t.Fatalf("it is %v, %v, want %v, %v", b, ok, tc.want, tc.ok)
				}
			}
		})
	}
}
