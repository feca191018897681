package stats

import (
	"testing"
)

func TestOnlyTheWidthOfIntervalsDecidesWhetherToStop(t *testing.T) {
	of := func(blocks int, low, high float64) Comparison {
		return Comparison{Overall: []Result{{Decides: true, Blocks: blocks, FewestPairs: blocks, Low: &low, High: &high}}}
	}
	result := func(low, high float64) Comparison { return of(10, low, high) }
	tests := map[string]struct {
		comparisons []Comparison
		want        bool
	}{
		"nothing is compared":            {nil, false},
		"narrow around no difference":    {[]Comparison{result(0.99, 1.01)}, true},
		"narrow around a large one":      {[]Comparison{result(2, 2.04)}, true},
		"wide, though a winner is clear": {[]Comparison{result(1.5, 2.5)}, false},
		"one of two is wide":             {[]Comparison{result(0.99, 1.01), result(0.8, 1.2)}, false},
		"narrow, with one block too few": {[]Comparison{of(6, 0.99, 1.01)}, false},
		"one has no interval yet":        {[]Comparison{{Overall: []Result{{Decides: true, Blocks: 10, FewestPairs: 10}}}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Table{Comparisons: tc.comparisons}).NarrowerThan(0.05); got != tc.want {
				t.Errorf("it stops: %v, want %v", got, tc.want)
			}
		})
	}
}
