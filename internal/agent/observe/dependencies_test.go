package observe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

func TestTheServerComesAfterItsDependencies(t *testing.T) {
	all := map[string]string{
		"1/stat": "1 (pause) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0",
		"3/stat": "3 (redis) S 0 3 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 400 0 0",
		"9/stat": "9 (later) S 0 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 900 0 0",
	}
	proc := kernel.Proc(kerneltest.Proc(t, all))
	for dependencies, want := range map[int]int{0: 3, 1: 7, 2: 9} {
		if got, err := ParentlessAfter(dependencies)(proc); err != nil || got != want {
			t.Errorf("after %d: process %d, %v; want %d", dependencies, got, err, want)
		}
	}
	if _, err := ParentlessAfter(3)(proc); err == nil {
		t.Error("a server was found that has not started")
	}
}

func stat(pid, parent, started, ticks string) string {
	return pid + " (redis) S " + parent + " 3 3 0 -1 0 0 0 0 0 " + ticks + " 0 0 0 20 0 1 0 " + started + " 0 0"
}

func TestTheCPUTimeOfADependencyIsReadAsItMayBe(t *testing.T) {
	const cgroup = "3/root/sys/fs/cgroup/cpu.stat"
	for name, tc := range map[string]struct {
		before, after map[string]string
		want          []record.DependencyUse
		wantCoarse    bool
		wantUnknown   string
	}{
		"by its cgroup": {
			before: map[string]string{"3/stat": stat("3", "0", "400", "10"), cgroup: "usage_usec 1000\n"}, after: map[string]string{cgroup: "usage_usec 4500\n"},
			want: []record.DependencyUse{{Name: "db", CPUNanos: 3_500_000}},
		},
		"by its processes, where another user's cgroup is closed": {
			before: map[string]string{"3/stat": stat("3", "0", "400", "10"), "4/stat": stat("4", "3", "410", "1")},
			after:  map[string]string{"3/stat": stat("3", "0", "400", "12"), "4/stat": stat("4", "3", "410", "4")},
			want:   []record.DependencyUse{{Name: "db", CPUNanos: 50_000_000}}, wantCoarse: true,
		},
		"not at all, where it is gone": {wantUnknown: "The CPU time of the dependency db is unknown: its process is gone."},
	} {
		t.Run(name, func(t *testing.T) {
			dir := kerneltest.Proc(t, tc.before)
			s, err := openServer(kernel.Proc(dir), 7, Config{Cgroup: "/sys/fs/cgroup", Dependencies: []string{"db"}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			if got := s.dependencies[0].coarse(); (got != "") != tc.wantCoarse {
				t.Errorf("it says %q", got)
			}
			before := s.snapshot()
			kerneltest.Rewrite(t, dir, tc.after)
			var got record.CellObservation
			difference(&got, before, s.snapshot())
			if diff := cmp.Diff(tc.want, got.Dependencies); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if said := strings.Join(got.Unknown, "\n"); !strings.Contains(said, tc.wantUnknown) {
				t.Errorf("unknown: %s", said)
			}
		})
	}
}
