package seats

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/kernel"
)

// topology is a /sys in which CPUs say which of them share their core.
func topology(t *testing.T, siblings map[int]string) string {
	t.Helper()
	sys := t.TempDir()
	for cpu, text := range siblings {
		dir := filepath.Join(sys, fmt.Sprintf("devices/system/cpu/cpu%d/topology", cpu))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "thread_siblings_list"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return sys
}

func TestCPUsAreGroupedByCore(t *testing.T) {
	cpus := cpuset.Parse(kernel.OwnCPUsAllowed())
	var single [][]int
	siblings := map[int]string{}
	for _, cpu := range cpus {
		single = append(single, []int{cpu})
		// The CPU 9999 is none on which this program may run.
		siblings[cpu] = fmt.Sprintf("%d,9999\n", cpu)
	}
	for name, tc := range map[string]struct {
		siblings map[int]string
		want     [][]int
	}{
		"each alone where the kernel does not say":    {nil, single},
		"each alone where the others may not be used": {siblings, single},
		"each alone where the kernel says nonsense":   {map[int]string{cpus[0]: "none"}, single},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadCores(topology(t, tc.siblings))
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, diff)
			}
		})
	}
	if len(cpus) < 2 {
		t.Skip("there is only one CPU")
	}
	both := fmt.Sprintf("%d,%d\n", cpus[0], cpus[1])
	got, err := ReadCores(topology(t, map[int]string{cpus[0]: both, cpus[1]: both}))
	if want := slices.Concat([][]int{{cpus[0], cpus[1]}}, single[2:]); !cmp.Equal(got, want) || err != nil {
		t.Errorf("two threads of a core are %v, %v, want %v", got, err, want)
	}
}
