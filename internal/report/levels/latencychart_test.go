package levels

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/measured"
)

func TestACurveEndsAtItsLastRise(t *testing.T) {
	curve := func(micros ...int64) []measured.Quantile {
		var out []measured.Quantile
		for k := range micros {
			out = append(out, measured.Quantile{Q: 1 - 1/float64(k+2), Micros: &micros[k]})
		}
		return out
	}
	for name, tc := range map[string]struct {
		of   []measured.Quantile
		want int
	}{
		"a flat end is cut":       {curve(1, 2, 2, 3, 9, 9, 9), 5},
		"a rising end stays":      {curve(1, 2, 3), 3},
		"one value is a point":    {curve(5, 5, 5), 1},
		"nothing is left of none": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(untilFlat(tc.of)); got != tc.want {
				t.Errorf("%d points are left, want %d", got, tc.want)
			}
		})
	}
}
