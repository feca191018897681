package recordtest

import (
	"math"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

func TestASearchFindsWhatTheServersCPUAllows(t *testing.T) {
	const percentile, steps = 99, 14
	for name, tc := range map[string]struct {
		cpuMicros, noise float64
		start            int32
		want             float64
	}{
		"from below":   {cpuMicros: 1000, start: 100, want: 970},
		"from above":   {cpuMicros: 2000, start: 4000, want: 485},
		"beside noise": {cpuMicros: 1000, noise: 0.03, start: 500, want: 970},
	} {
		t.Run(name, func(t *testing.T) {
			s := record.Search{Percentile: percentile, MaxMilliseconds: 20, StartRequestsPerSecond: tc.start, Steps: steps}
			d := Search(pair(func(o *Options) { o.Noise, o.Servers = tc.noise, []Server{{Name: "one", CPUMicros: tc.cpuMicros}} }), s)
			for _, trial := range d.Trials {
				cells := trial.Generators[0].Cells
				found := search.Outcome(search.Steps(s, cells))
				if found.Result != search.Found || math.Abs(float64(found.Highest.Rate)/tc.want-1) > 0.03+4*tc.noise {
					t.Errorf("%s found %+v, want about %.0f", trial.Manifest.Name, found, tc.want)
				}
				if len(trial.Servers[0].Cells) != steps || len(trial.Manifest.Cells) != steps || len(cells) > steps {
					t.Errorf("%d steps of %d planned and %d observed", len(cells), len(trial.Manifest.Cells), len(trial.Servers[0].Cells))
				}
			}
		})
	}
}

func TestAStepOfASearchAnswersWhatTheServerCan(t *testing.T) {
	for name, tc := range map[string]struct {
		rate                      int32
		wantRequests, wantDropped int64
		wantMet                   bool
	}{
		"within its CPU time": {900, 1800, 0, true},
		"all of its CPU time": {970, 1940, 0, true},
		"more than that":      {1100, 1940, 260, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := Options{Seconds: 2}.step(record.Point{Load: SearchLoad, Step: 1}, tc.rate, 1000, time.Time{})
			m := run.Measurement
			if m.Asked != 2*int64(tc.rate) || m.Requests != tc.wantRequests || m.Dropped != tc.wantDropped {
				t.Errorf("asked %d, answered %d, dropped %d; want %d and %d", m.Asked, m.Requests, m.Dropped, tc.wantRequests, tc.wantDropped)
			}
			if slow := decoded(t, m.Latency[0]).Quantile(0.5) > 20_000; slow == tc.wantMet {
				t.Errorf("its answers are slow: %v", slow)
			}
			met, why := search.Met(*m, record.Search{Percentile: 99, MaxMilliseconds: 20})
			if met != tc.wantMet {
				t.Errorf("the bound is kept: %v, %s", met, why)
			}
		})
	}
}
