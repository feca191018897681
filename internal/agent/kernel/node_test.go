package kernel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/base/util"
)

func TestNodesOfFourAndOfSixteenCPUs(t *testing.T) {
	for name, tc := range map[string]struct {
		cpus, threads int
		adjacent      bool
		cores         [][]int
		own, siblings string
		busy          int64
	}{
		"four CPUs, a core each": {
			cpus: 4, threads: 1, cores: [][]int{{0}, {1}, {2}, {3}}, own: "2-3", siblings: "2,3", busy: 5,
		},
		"four CPUs on two cores": {
			cpus: 4, threads: 2, cores: [][]int{{0, 2}, {1, 3}}, own: "3", siblings: "1,3", busy: 3,
		},
		"sixteen CPUs on eight cores, whose second threads come last": {
			cpus: 16, threads: 2, cores: [][]int{{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}, {6, 14}, {7, 15}}, own: "1,9", siblings: "1,9", busy: 10,
		},
		"sixteen CPUs on eight cores, whose threads lie side by side": {
			cpus: 16, threads: 2, adjacent: true, cores: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}},
			own: "1,10", siblings: "0,1,10,11", busy: 11,
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := kerneltest.Node(tc.cpus, tc.threads, tc.adjacent)
			e := Environment(root, tc.own)
			all := util.ParseCPUs(e.CPUsAllowed)
			if len(all) != tc.cpus || e.OnlineCPUs != e.CPUsAllowed || e.CgroupVersion != "v2" || e.Governor != "performance" || e.SMTSiblings != tc.siblings {
				t.Errorf("the machine is %+v", e)
			}
			if diff := cmp.Diff(tc.cores, Cores(root, all)); diff != "" {
				t.Errorf("cores (-want +got):\n%s", diff)
			}
			own := util.ParseCPUs(tc.own)
			times, err := TimesOf(slurp(root, "proc/stat"), own)
			want := CPUTimes{Busy: tc.busy * nanosPerTick, Total: (tc.busy + 100*int64(len(own))) * nanosPerTick}
			if err != nil || times != want {
				t.Errorf("CPUs %s were used for %+v, %v, want %+v", tc.own, times, err, want)
			}
		})
	}
}
