package util

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-2,5\n": {0, 1, 2, 5}, "3,1": {1, 3}, "1,0-1": {0, 1}, "": nil, "unknown": nil, "2-1": nil, "-1": nil, "1-": nil, "0-99999": nil, "0,,1": nil,
	} {
		if diff := cmp.Diff(want, ParseCPUs(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

func FuzzParseCPUs(f *testing.F) {
	corpus := mutated.Of[string](f)
	for _, seed := range []string{"0-2,5", "", "unknown", "0-99999", "16384,16384", "0-16384,0-16384,0-16384"} {
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t testing.TB, list string) {
		cpus := ParseCPUs(list)
		if len(cpus) > 2*(maxCPU+1) {
			t.Errorf("%d CPUs", len(cpus))
		}
		for _, cpu := range cpus {
			if cpu < 0 || cpu > maxCPU {
				t.Errorf("CPU %d", cpu)
			}
		}
	})
}
