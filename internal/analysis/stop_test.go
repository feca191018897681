package analysis

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/verdict"
)

func TestOnlyTheWidthOfIntervalsDecidesWhetherToStop(t *testing.T) {
	of := func(blocks int, low, high float64) verdict.Comparison {
		return verdict.Comparison{Overall: []verdict.Result{{Decides: true, Blocks: blocks, FewestPairs: blocks, Low: &low, High: &high}}}
	}
	result := func(low, high float64) verdict.Comparison { return of(10, low, high) }
	tests := map[string]struct {
		comparisons []verdict.Comparison
		want        bool
	}{
		"nothing is compared":            {nil, false},
		"narrow around no difference":    {[]verdict.Comparison{result(0.99, 1.01)}, true},
		"narrow around a large one":      {[]verdict.Comparison{result(2, 2.04)}, true},
		"wide, though a winner is clear": {[]verdict.Comparison{result(1.5, 2.5)}, false},
		"one of two is wide":             {[]verdict.Comparison{result(0.99, 1.01), result(0.8, 1.2)}, false},
		"narrow, with one block too few": {[]verdict.Comparison{of(6, 0.99, 1.01)}, false},
		"one has no interval yet":        {[]verdict.Comparison{{Overall: []verdict.Result{{Decides: true, Blocks: 10, FewestPairs: 10}}}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Table{Comparisons: tc.comparisons}).NarrowerThan(0.05); got != tc.want {
				t.Errorf("it stops: %v, want %v", got, tc.want)
			}
		})
	}
}
