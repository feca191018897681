package measured_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

func TestWhatIsSeenBesideTheSpeed(t *testing.T) {
	for name, tc := range map[string]struct {
		name   measured.ObservationName
		change func(*record.CellRun, *record.CellObservation)
		want   float64
		known  bool
	}{
		"other processes on the server's own CPU": {
			measured.NeighbourShare, func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = 4_500_000_000 }, 0.1, true,
		},
		"other processes are expected where the server owns no CPU": {
			measured.NeighbourShare, func(_ *record.CellRun, o *record.CellObservation) { o.CPUsAllowed = "1-2" }, 0, false,
		},
		"CPUs that were busy for less than the server used": {
			measured.NeighbourShare, func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = 3_000_000_000 }, 0, true,
		},
		"waiting for a CPU, each request": {
			measured.RunQueue, func(_ *record.CellRun, o *record.CellObservation) { o.RunQueueNanos = 20_000_000 }, 2, true,
		},
		"waiting without one request is no number": {
			measured.RunQueue, func(r *record.CellRun, o *record.CellObservation) {
				o.RunQueueNanos, r.Measurement.Requests = 20_000_000, 0
			}, 0, false,
		},
		"dependencies together, each request": {
			measured.DependencyCPU, func(_ *record.CellRun, o *record.CellObservation) {
				o.Dependencies = []record.DependencyUse{{Name: "db", CPUNanos: 15_000_000}, {Name: "cache", CPUNanos: 5_000_000}}
			}, 2, true,
		},
		"a server without dependencies": {measured.DependencyCPU, func(*record.CellRun, *record.CellObservation) {}, 0, false},
		"segments that were sent again, on both sides": {
			measured.RetransmittedShare, func(r *record.CellRun, o *record.CellObservation) {
				r.Network.Retransmits, o.Network.Retransmits = 100, 300
			}, 0.02, true,
		},
		"namespaces that were not read": {
			measured.RetransmittedShare, func(r *record.CellRun, o *record.CellObservation) {
				r.Network, o.Network = record.Network{}, record.Network{}
			}, 0, false,
		},
		"memory may shrink": {
			measured.MemoryGrowth, func(_ *record.CellRun, o *record.CellObservation) { o.RSSStartBytes = o.RSSBytes + 10_000 }, -1, true,
		},
		"an agent that used half of a CPU": {
			measured.AgentShare, func(r *record.CellRun, _ *record.CellObservation) {
				r.AgentCPUNanos, r.Ended = 1_000_000_000, r.Started.Add(2*time.Second)
			}, 0.5, true,
		},
		"sockets that were not read": {measured.Fairness, func(*record.CellRun, *record.CellObservation) {}, 0, false},
		"one generator has no skew":  {measured.StartSkew, func(*record.CellRun, *record.CellObservation) {}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			tc.change(first(d))
			got, known := read(t, d).Observed(tc.name)
			if got != tc.want || known != tc.known {
				t.Errorf("%s is %v, %v; want %v, %v", tc.name, got, known, tc.want, tc.known)
			}
		})
	}
}

func TestSkewIsReadInTheOperatorsClock(t *testing.T) {
	d := trial(2)
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	one, other := start.Add(time.Second), start.Add(time.Second+3*time.Millisecond)
	d.Generators[0].Cells[0].FirstConnection, d.Generators[1].Cells[0].FirstConnection = &one, &other
	d.Manifest.Clocks = []record.AgentClock{{Member: "generator-0", RoundTripNanos: 400_000}, {Member: "generator-1", OffsetNanos: 1_000_000, RoundTripNanos: 200_000}}
	f := read(t, d)
	want := map[measured.ObservationName]float64{measured.StartSkew: 2000, measured.StartSkewError: 300}
	for name, want := range want {
		if got := f.Observations[name]; got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	d.Manifest.Clocks = d.Manifest.Clocks[:1]
	if _, known := read(t, d).Observed(measured.StartSkew); known {
		t.Error("a skew is known without a generator's clock")
	}
}

func TestObservationsAreDescribedInTheirOrder(t *testing.T) {
	seen := func(trend, skew float64) measured.Values {
		return measured.Values{Observations: map[measured.ObservationName]float64{measured.Trend: trend, measured.StartSkew: skew}}
	}
	got := map[measured.ObservationName]float64{}
	var order []measured.ObservationName
	for _, o := range measured.Describe([]measured.Values{seen(1, 10), seen(3, 30), {}}) {
		order, got[o.Name] = append(order, o.Name), o.Summary.Mean
	}
	if diff := cmp.Diff([]measured.ObservationName{measured.StartSkew, measured.Trend}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if got[measured.StartSkew] != 20 || got[measured.Trend] != 2 {
		t.Errorf("means %v", got)
	}
}
