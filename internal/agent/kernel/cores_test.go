package kernel

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestCPUsAreGroupedByCore(t *testing.T) {
	for name, tc := range map[string]struct {
		siblings map[int]string
		want     [][]int
	}{
		"each alone where the kernel does not say":    {nil, [][]int{{0}, {1}, {4}}},
		"each alone where the others may not be used": {map[int]string{0: "0,9999\n", 1: "1,5\n", 4: "4\n"}, [][]int{{0}, {1}, {4}}},
		"each alone where the kernel says nonsense":   {map[int]string{0: "none"}, [][]int{{0}, {1}, {4}}},
		"two threads of a core":                       {map[int]string{0: "0,4\n", 1: "1,5\n", 4: "0,4\n"}, [][]int{{0, 4}, {1}}},
		"all threads of one core":                     {map[int]string{0: "0-4\n", 1: "0-4\n", 4: "0-4\n"}, [][]int{{0, 1, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for cpu, text := range tc.siblings {
				root[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)] = &fstest.MapFile{Data: []byte(text)}
			}
			if diff := cmp.Diff(tc.want, Cores(root, []int{0, 1, 4})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
