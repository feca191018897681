package measured_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

func TestFiguresFollowFromTheRecords(t *testing.T) {
	type figures struct {
		Seconds, Throughput, CPUPerRequest, ServerCPUs, GeneratorCPUs float64
		Requests                                                      int64
	}
	good := figures{Seconds: 5, Throughput: 2000, CPUPerRequest: 400, ServerCPUs: 0.8, GeneratorCPUs: 0.4, Requests: 10_000}
	for name, tc := range map[string]struct {
		generators int
		change     func(*record.TrialData)
		want       func(*figures)
	}{
		"one generator": {generators: 1},
		"the throughputs of two generators add up, each over its own time": {
			generators: 2,
			change:     func(d *record.TrialData) { d.Generators[1].Cells[0].Measurement.DurationMicros = 4_000_000 },
			want: func(f *figures) {
				f.Throughput, f.Requests, f.CPUPerRequest, f.GeneratorCPUs = 2000+2500, 20_000, 200, 0.4+0.5
			},
		},
		"a generator without a measurement leaves a part of the load": {
			generators: 2,
			change:     func(d *record.TrialData) { d.Generators[1].Cells[0].Measurement = nil },
			want:       func(f *figures) { f.Throughput, f.CPUPerRequest, f.GeneratorCPUs = 0, 0, 0 },
		},
		"a generator without a record does so too": {
			generators: 2,
			change:     func(d *record.TrialData) { d.Generators[1].Cells = nil },
			want:       func(f *figures) { f.Throughput, f.CPUPerRequest, f.GeneratorCPUs = 0, 0, 0 },
		},
		"the agent's own requests cost the server as much": {
			generators: 1,
			change:     func(d *record.TrialData) { d.Generators[0].Cells[0].MeasuredAudit = &record.Audit{Requests: 10_000} },
			want:       func(f *figures) { f.CPUPerRequest = 200 },
		},
		"a server that was not wholly observed": {
			generators: 1,
			change:     func(d *record.TrialData) { d.Servers[0].Cells[0].Error = "no such process" },
			want:       func(f *figures) { f.CPUPerRequest, f.ServerCPUs = 0, 0 },
		},
		"a server that was not observed": {
			generators: 1,
			change:     func(d *record.TrialData) { d.Servers[0].Cells = nil },
			want:       func(f *figures) { f.CPUPerRequest, f.ServerCPUs = 0, 0 },
		},
		"a load that took no time": {
			generators: 1,
			change:     func(d *record.TrialData) { d.Generators[0].Cells[0].Measurement.DurationMicros = 0 },
			want:       func(f *figures) { *f = figures{CPUPerRequest: 400, Requests: 10_000} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(tc.generators)
			want := good
			if tc.change != nil {
				tc.change(d)
			}
			if tc.want != nil {
				tc.want(&want)
			}
			f := read(t, d)
			got := figures{
				Seconds: f.LoadSeconds, Throughput: of(f.Throughput), CPUPerRequest: of(f.CPUPerRequest), ServerCPUs: of(f.ServerCPUs),
				GeneratorCPUs: of(f.GeneratorCPUs), Requests: f.Requests,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALatencyIsOfAllGeneratorsOrOfNone(t *testing.T) {
	for name, tc := range map[string]struct {
		second []record.Latency
		want   float64
	}{
		"both have it":    {[]record.Latency{recordtest.Equal(record.Observed, 3000, 10_000)}, 2000},
		"one has it":      {nil, 0},
		"they have other": {[]record.Latency{recordtest.Equal(record.Corrected, 3000, 10_000)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(2)
			d.Generators[0].Cells[0].Measurement.Latency = []record.Latency{recordtest.Equal(record.Observed, 1000, 10_000)}
			d.Generators[1].Cells[0].Measurement.Latency = tc.second
			f := read(t, d)
			if got := of(f.MeanLatency); math.Abs(got-tc.want) > 0.001*tc.want {
				t.Errorf("mean latency %v, want %v", got, tc.want)
			}
			// Little's law: 4,000 requests/s of 2 ms each.
			if inFlight := 4000 * tc.want / 1e6; math.Abs(f.InFlight-inFlight) > 0.001*inFlight {
				t.Errorf("%v requests in flight, want %v", f.InFlight, inFlight)
			}
			if q := f.Quantile(record.Observed, "99"); (q != nil) != (tc.want > 0) {
				t.Errorf("p99 is %v", q)
			}
		})
	}
}

func TestALatencyThatCannotBeReadNamesItsCell(t *testing.T) {
	d := trial(1)
	d.Generators[0].Cells[0].Measurement.Latency = []record.Latency{{Kind: record.Observed, HDR: "none", Samples: 1}}
	_, err := measured.Read(&histogram.Decoder{}, level(d), planned.Implementation{CPUs: 1}, d, nil)
	if err == nil || !strings.Contains(err.Error(), "reading the latencies of one at ") {
		t.Errorf("Read() = %v", err)
	}
}

func TestTheRawOutputIsThatOfTheFirstGeneratorThatHasAny(t *testing.T) {
	d := trial(2)
	d.Generators[1].Cells[0].Raw = "raw/1.txt"
	d.Manifest.Artifacts = []record.Artifact{
		{Member: "generator-0", Name: "raw/1.txt", Key: "other"}, {Member: "generator-1", Name: "raw/1.txt", Key: "key"},
	}
	if got := read(t, d).RawKey(); got != "key" {
		t.Errorf("RawKey() = %q", got)
	}
	d.Generators[1].Cells[0].Raw = ""
	if got := read(t, d).RawKey(); got != "" {
		t.Errorf("RawKey() = %q where there is no raw output", got)
	}
}
