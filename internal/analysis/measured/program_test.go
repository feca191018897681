package measured_test

import (
	"math"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

// process ran for two seconds on CPU 1, observed for three, without other processes.
func process(changes ...func(*record.ObserverResult)) *record.TrialData {
	begun := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	t := &record.TrialData{Manifest: record.TrialManifest{PlannedTrial: record.PlannedTrial{Name: "one", Block: 1, Servers: []string{"go"}}}}
	own := record.ObserverResult{Program: &record.ProgramRun{Started: begun, Ended: begun.Add(2 * time.Second)}}
	own.Cells = []record.CellObservation{{
		Started: begun.Add(-time.Second), Ended: begun.Add(2 * time.Second), CPUsAllowed: "1",
		CPUNanos: 2_000_000_000, BusyNanos: 2_000_000_000, CoreNanos: 3_000_000_000, PeakMemoryBytes: 1 << 20,
	}}
	for _, change := range changes {
		change(&own)
	}
	t.Servers = []record.ObserverResult{own}
	return t
}

func ofProgram(t *record.TrialData) *measured.Facts {
	return measured.OfProgram(planned.Implementation{Name: "go", CPUs: 1}, t)
}

func TestAProcessLastsFromItsOwnStartToItsOwnEnd(t *testing.T) {
	f := ofProgram(process())
	if f.LoadSeconds != 2 || of(f.ServerPeakMemory) != 1<<20 || !f.Pinning.ServerPinned || f.Pinning.ServerCPUs != "1" {
		t.Errorf("got %g s, %g bytes, %+v", f.LoadSeconds, of(f.ServerPeakMemory), f.Pinning)
	}
	f = ofProgram(process(func(r *record.ObserverResult) { r.Program, r.Cells[0].PeakMemoryBytes = nil, 0 }))
	if f.LoadSeconds != 3 || f.ServerPeakMemory != nil {
		t.Errorf("of a process that left nothing: %g s, %v bytes", f.LoadSeconds, f.ServerPeakMemory)
	}
}

func TestAProcessThatNobodySawHasNoFacts(t *testing.T) {
	f := ofProgram(process(func(r *record.ObserverResult) { r.Cells = nil }))
	if f.Seen != nil || f.LoadSeconds != 0 || f.Pinning.ServerPinned || len(f.Observations) != 0 {
		t.Errorf("got %+v", f.Values)
	}
}

func TestAProcessIsPinnedIfItOwnsAsManyCPUsAsPlanned(t *testing.T) {
	for cpus, want := range map[string]bool{"1": true, "7": true, "0-1": false, "0,2": false, "": false, record.Unknown: false} {
		f := ofProgram(process(func(r *record.ObserverResult) { r.Cells[0].CPUsAllowed = cpus }))
		if _, known := f.Observed(measured.NeighbourShare); f.Pinning.ServerPinned != want || known != want {
			t.Errorf("on the CPUs %q it is pinned: %v, and its neighbours are known: %v; want %v", cpus, f.Pinning.ServerPinned, known, want)
		}
	}
}

func TestTheTicksThatAWindowCutsAccuseNobody(t *testing.T) {
	for name, tc := range map[string]struct {
		// others is the CPU time of other processes, window the observed time.
		others, window time.Duration
		want           float64
	}{
		"nobody":                                 {0, 3 * time.Second, 0},
		"less than was counted":                  {-10 * time.Millisecond, 3 * time.Second, 0},
		"two ticks":                              {20 * time.Millisecond, 3 * time.Second, 0},
		"two ticks, of a process of a moment":    {20 * time.Millisecond, 40 * time.Millisecond, 0},
		"half a second":                          {500 * time.Millisecond, 3 * time.Second, 0.16},
		"half a moment, of a process of another": {200 * time.Millisecond, 400 * time.Millisecond, 0.45},
	} {
		t.Run(name, func(t *testing.T) {
			f := ofProgram(process(func(r *record.ObserverResult) {
				c := &r.Cells[0]
				c.CPUNanos, c.CoreNanos = 10_000_000, tc.window.Nanoseconds()
				c.BusyNanos = c.CPUNanos + tc.others.Nanoseconds()
			}))
			if got, known := f.Observed(measured.NeighbourShare); !known || math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("got %g, known %v, want %g", got, known, tc.want)
			}
		})
	}
}

func TestAProcessHasNoNumbersOfALoad(t *testing.T) {
	pressure := int64(30_000)
	f := ofProgram(process(func(r *record.ObserverResult) {
		c := &r.Cells[0]
		c.RunQueueNanos, c.RSSStartBytes, c.RSSBytes, c.PressureMicros = 1e6, 1<<20, 2<<20, &pressure
	}))
	for _, name := range []measured.ObservationName{measured.RunQueue, measured.MemoryGrowth} {
		if got, known := f.Observed(name); known {
			t.Errorf("%s is %g for each of no requests", name, got)
		}
	}
	if got, _ := f.Observed(measured.Pressure); math.Abs(got-0.01) > 1e-9 {
		t.Errorf("the pressure is %g of its time, want 0.01", got)
	}
	if f.Throughput != nil || f.CPUPerRequest != nil || f.MeanLatency != nil || f.Requests != 0 {
		t.Errorf("it has numbers of a load: %+v", f.Values)
	}
}
