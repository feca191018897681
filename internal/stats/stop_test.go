package stats

import (
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestEachLookHasItsShareOfTheError(t *testing.T) {
	tests := map[string]struct {
		blocks int32
		stop   bool
		want   int
	}{
		"a run that may not stop is looked at once": {25, false, 1},
		"ten blocks have no look before their end":  {10, true, 1},
		"eleven blocks have one more than that":     {11, true, 2},
		"twenty-five have two more than that":       {25, true, 3},
		"forty blocks have three more than it":      {40, true, 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := v1alpha1.BenchmarkRunSpec{Blocks: tc.blocks}
			if tc.stop {
				spec.Stop = &v1alpha1.Stop{MaxWidth: "0.05"}
			}
			if got := looks(spec); got != tc.want {
				t.Errorf("%d looks, want %d", got, tc.want)
			}
		})
	}
}

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
