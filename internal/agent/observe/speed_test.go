package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

func ownCPU(t *testing.T) int {
	t.Helper()
	cpus := util.ParseCPUs(kernel.OwnCPUsAllowed())
	if len(cpus) == 0 {
		t.Skip("the CPUs of the test are unknown")
	}
	return cpus[0]
}

func TestWorkOn(t *testing.T) {
	before := kernel.OwnCPUsAllowed()
	done, err := workOn(ownCPU(t))
	if err != nil {
		t.Fatal(err)
	}
	if done.CPUNanos <= 0 || done.WallNanos < workRounds*done.CPUNanos {
		t.Errorf("%d rounds took %d ns, the fastest %d ns of CPU time", workRounds, done.WallNanos, done.CPUNanos)
	}
	// A missing CPU is refused like one of another container's cpuset.
	if _, err := workOn(1000); err == nil || !strings.Contains(err.Error(), "may not run on CPU 1000: "+unix.EINVAL.Error()) {
		t.Errorf("the work on a CPU that is not there ended with %v", err)
	}
	if after := kernel.OwnCPUsAllowed(); after != before {
		t.Errorf("the process was allowed on the CPUs %s and is on %s", before, after)
	}
}

func TestWhereTheObserverWorks(t *testing.T) {
	one := fmt.Sprintf("Name:\tx\nCpus_allowed_list:\t%d\n", ownCPU(t))
	tests := map[string]struct {
		status string
		second bool
		late   bool
		want   string
	}{
		"the server has one CPU":                        {status: one},
		"the server has two":                            {status: "Cpus_allowed_list:\t1,3\n", want: "the server may run on 2 CPUs"},
		"the server has one that is not the observer's": {status: "Cpus_allowed_list:\t1000\n", want: "the observer may not run on CPU 1000: invalid argument"},
		"the load is about to begin":                    {status: one, late: true, want: "the observer was late"},
		"another observer does it":                      {status: one, second: true, want: "the other server's observer does the work for both"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := 0
			if tc.second {
				server = 1
			}
			o := New(Config{Server: server, Port: 1})
			o.proc, o.server = kernel.Proc(kerneltest.Proc(t, map[string]string{"7/status": tc.status})), 7
			until := time.Now().Add(time.Hour)
			if tc.late {
				until = time.Now()
			}
			done, err := o.work(until)
			if (done == nil) != (tc.want != "") || err != nil && err.Error() != tc.want {
				t.Errorf("work() = %+v, %v; want the error %q", done, err, tc.want)
			}
		})
	}
}

func TestCourseOfTheFrequency(t *testing.T) {
	for name, tc := range map[string]struct{ read, want []int64 }{
		"of each interval, at its end": {read: []int64{1, 2, 3}, want: []int64{2, 3}},
		"unknown, if one is unknown":   {read: []int64{1, 0, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourse()
			for _, kHz := range tc.read {
				c.add(sampled{kHz: kHz}, 0)
			}
			var got record.CellObservation
			c.describe(&got)
			if diff := cmp.Diff(tc.want, got.Series.KHz); diff != "" {
				t.Errorf("frequencies (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserverWorksBetweenCells(t *testing.T) {
	server := child(t)
	if err := kernel.Proc("/proc").SetCPUs(server.Process.Pid, []int{ownCPU(t)}); err != nil {
		t.Fatal(err)
	}
	result := seen(t, observing(t, "/proc", server.Process.Pid), starting(500*time.Millisecond, cell(1), cell(2)), nothing)
	for i, c := range result.Cells {
		late := strings.Contains(strings.Join(c.Unknown, " "), nameSpeed)
		if (c.WorkAfter == nil) != late && c.Series.KHz == nil {
			t.Errorf("cell %d: work %+v, unknown %q", i, c.WorkAfter, c.Unknown)
		}
	}
	if diff := cmp.Diff(result.Cells[0].WorkAfter, result.Cells[1].WorkBefore); diff != "" {
		t.Errorf("the work after the first cell is not that before the second (-after +before):\n%s", diff)
	}
}
