package observe

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func TestCourse(t *testing.T) {
	type sample struct {
		sampled
		late time.Duration
	}
	tests := map[string]struct {
		samples []sample
		want    record.CellObservation
	}{
		"nothing":    {},
		"one sample": {samples: []sample{{sampled: sampled{cpu: 5, segments: 6}}}},
		"three samples": {
			samples: []sample{{sampled: sampled{cpu: 5, segments: 6}}, {sampled: sampled{cpu: 15, segments: 6}}, {sampled: sampled{cpu: 16, segments: 9}, late: 50 * time.Millisecond}},
			want:    record.CellObservation{Series: &record.Series{EveryMillis: 100, CPUNanos: []int64{10, 1}, SegmentsOut: []int64{0, 3}}},
		},
		"a late sample": {
			samples: []sample{{sampled: sampled{cpu: 5, segments: 6}}, {sampled: sampled{cpu: 15, segments: 7}, late: 80 * time.Millisecond}},
			want: record.CellObservation{
				Series:  &record.Series{EveryMillis: 100, CPUNanos: []int64{10}, SegmentsOut: []int64{1}},
				Unknown: []string{"The intervals of the cell's course have different lengths: a sample was taken 80ms late."},
			},
		},
		"a sample that could not be read": {
			samples: []sample{{sampled: sampled{cpu: 5}}, {sampled: sampled{err: errors.New("gone")}}, {sampled: sampled{cpu: 7}}},
			want:    record.CellObservation{Unknown: []string{"The course of the cell is unknown: gone."}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCourse()
			for _, s := range tc.samples {
				c.add(s.sampled, s.late)
			}
			var got record.CellObservation
			c.describe(&got)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("describe() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSocketsThatCannotBeRead(t *testing.T) {
	tests := map[string]struct {
		late time.Duration
		err  error
		want []string
	}{
		"the kernel refuses":   {err: kernel.ErrOldKernel, want: []string{nameSockets + " is unknown: " + kernel.ErrOldKernel.Error() + "."}},
		"the observer is late": {late: time.Hour, want: []string{nameSockets + " is unknown: the observer was 1h0m0s late."}},
		"nothing is wrong":     {},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := New(Config{Port: 1})
			o.sockets = func(int, time.Duration) (*record.Sockets, error) { return &record.Sockets{}, tc.err }
			var got record.CellObservation
			o.lookAtSockets(&got, tc.late, time.Second)
			if diff := cmp.Diff(tc.want, got.Unknown); diff != "" || (got.Sockets == nil) != (tc.want != nil) {
				t.Errorf("sockets %+v, unknown (-want +got):\n%s", got.Sockets, diff)
			}
		})
	}
}

func observed(b *testing.B) *server {
	b.Helper()
	s, err := openServer("/proc", child(b).Process.Pid, Config{Cgroup: "/sys/fs/cgroup"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.close)
	return s
}

// BenchmarkSample runs ten times a second in an observer: 1 ms each would take 1 % of a CPU.
func BenchmarkSample(b *testing.B) {
	s := observed(b)
	series, err := createSamples(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	slot := timetable.Slot{Cell: record.Cell{Load: "sweep", Connections: 1}}
	clock := timing.From(time.Now())
	kerneltest.OwnTime(b, kernel.OwnCPUNanos, func() {
		if _, err := series.add(s, slot, clock); err != nil {
			b.Fatal(err)
		}
	})
	if err := series.close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := observed(b)
	kerneltest.OwnTime(b, kernel.OwnCPUNanos, func() { s.snapshot() })
}
