package planned

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
