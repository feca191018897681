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
