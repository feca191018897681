package observe

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

func TestAWindowIsOfTheContainerWhereThereIsOne(t *testing.T) {
	throttling := []string{nameThrottling + " is unknown: reading the cgroup's throttling: the number is missing."}
	for name, tc := range map[string]struct {
		before, after map[string]string
		nanos         int64
		whole         bool
		unknown       []string
	}{
		"all is known of its cgroup": {
			before: map[string]string{"7/root/sys/fs/cgroup/cpu.stat": "usage_usec 1000\nnr_throttled 1\nthrottled_usec 50\n"},
			after:  map[string]string{"7/root/sys/fs/cgroup/cpu.stat": "usage_usec 5500\nnr_throttled 1\nthrottled_usec 50\n"},
			nanos:  4500e3, whole: true,
		},
		"its throttling is unknown, and the traffic of its first process": {
			before: map[string]string{"7/root/sys/fs/cgroup/cpu.stat": "usage_usec 1\n", "7/net/snmp": ""},
			after:  map[string]string{"7/root/sys/fs/cgroup/cpu.stat": "usage_usec 2\n"},
			nanos:  1000, whole: true, unknown: throttling,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, proc := fakeServer(t, tc.before)
			w := Window{server: s}
			w.Begin()
			kerneltest.Rewrite(t, proc, tc.after)
			var got record.CellObservation
			if whole := w.End(&got); whole != tc.whole || got.CPUNanos != tc.nanos {
				t.Errorf("it used %d ns, of the whole container: %v; want %d, %v", got.CPUNanos, whole, tc.nanos, tc.whole)
			}
			if diff := cmp.Diff(tc.unknown, got.Unknown); diff != "" {
				t.Errorf("what is unknown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWindowWithoutACgroupIsOfItsProcesses(t *testing.T) {
	w, err := OpenWindow(os.Getpid(), "", true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if allowed := kernel.OwnCPUsAllowed(); w.CPUsAllowed() != allowed {
		t.Errorf("it may run on the CPUs %q, want %q", w.CPUsAllowed(), allowed)
	}
	w.Begin()
	var got record.CellObservation
	if w.End(&got) || got.CPUNanos <= 0 || got.Ended.Before(got.Started) {
		t.Errorf("of this process it says %+v", got)
	}
	if diff := cmp.Diff([]string{nameThrottling + " is unknown: " + errNoCgroup.Error() + "."}, got.Unknown); diff != "" {
		t.Errorf("what is unknown (-want +got):\n%s", diff)
	}
}
