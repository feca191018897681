package progress

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

func cellRun(server int, m *record.Measurement, active time.Duration, failed string) record.CellRun {
	return record.CellRun{Point: record.Point{Load: "sweep", Connections: 10}, Server: server, Measurement: m, ActiveNanos: active.Nanoseconds(), Error: failed}
}

func TestTheThroughputOfACellIsThatOfAllItsGenerators(t *testing.T) {
	made := func(requests int64, seconds int64) *record.Measurement {
		return &record.Measurement{Requests: requests, DurationMicros: seconds * 1_000_000}
	}
	other := cellRun(0, made(7, 1), 0, "")
	other.Connections = 100
	late := made(1000, 10)
	late.Latency = latencyOf(t, 1000, 1000)
	p99 := 1000.0
	for name, tc := range map[string]struct {
		servers    []string
		server     int
		generators [][]record.CellRun
		planned    int32
		want       Result
	}{
		"one generator": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, made(1000, 10), 0, "")}},
			want: Result{Name: "sweep-10", Value: 100, Unit: "requests/s"},
		},
		"one with latencies": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, late, 0, "")}},
			want: Result{Name: "sweep-10", Value: 100, Unit: "requests/s", P99Micros: &p99},
		},
		"two generators that took different times": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, made(1000, 10), 0, "")}, {cellRun(0, made(1000, 5), 0, "")}}, planned: 2,
			want: Result{Name: "sweep-10", Value: 300, Unit: "requests/s"},
		},
		"another cell is not counted": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{other, cellRun(0, made(1000, 10), 0, "")}},
			want: Result{Name: "sweep-10", Value: 100, Unit: "requests/s"},
		},
		"a generator that has no record of it": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, late, 0, "")}, {other}},
			want: Result{Name: "sweep-10", Value: 100, Unit: "requests/s", Failed: "no record from 1 of 2 generators"},
		},
		"the last generator has left nothing": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, late, 0, "")}}, planned: 2,
			want: Result{Name: "sweep-10", Value: 100, Unit: "requests/s", Failed: "no record from 1 of 2 generators"},
		},
		"the second server of a duet, whose servers wait for each other": {
			servers: []string{"plain", "costly"}, server: 1,
			generators: [][]record.CellRun{{cellRun(0, made(9, 10), time.Second, ""), cellRun(1, late, 5*time.Second, "")}},
			want:       Result{Name: "costly sweep-10", Value: 200, Unit: "requests/s"},
		},
		"a generator that failed": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, late, 0, "")}, {cellRun(0, nil, 0, "the tool hung")}},
			want: Result{Name: "sweep-10", Value: 100, Unit: "requests/s", Failed: "the tool hung"},
		},
		"a time that is not known": {
			servers: []string{"plain"}, generators: [][]record.CellRun{{cellRun(0, made(1000, 0), 0, "")}},
			want: Result{Name: "sweep-10", Unit: "requests/s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := record.TrialData{Manifest: record.TrialManifest{PlannedTrial: record.PlannedTrial{Servers: tc.servers}}}
			for _, cells := range tc.generators {
				d.Generators = append(d.Generators, record.GeneratorResult{Cells: cells})
			}
			if diff := cmp.Diff(tc.want, throughput(d, record.Cell{Load: "sweep", Connections: 10, Generators: tc.planned}, tc.server)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func latencyOf(t *testing.T, micros int64, count int64) []record.Latency {
	t.Helper()
	var h histogram.Histogram
	err := h.Record(micros, count)
	encoded, failed := h.Encode()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return []record.Latency{{Kind: record.Observed, HDR: encoded, Samples: count}}
}

func TestTheResultsOfATrialAreInTheOrderOfItsCells(t *testing.T) {
	d := record.TrialData{Manifest: record.TrialManifest{
		PlannedTrial: record.PlannedTrial{Servers: []string{"plain", "costly"}},
		Cells:        []record.Cell{{Load: "sweep", Connections: 100}, {Load: "sweep", Connections: 10}, {Load: "open", Connections: 1, RequestsPerSecond: 5}},
	}}
	measured := &record.Measurement{Requests: 10, DurationMicros: 1_000_000}
	large := cellRun(0, measured, 0, "")
	large.Connections = 100
	d.Generators = []record.GeneratorResult{{Cells: []record.CellRun{cellRun(1, nil, 0, "it hung"), cellRun(0, measured, 0, ""), large}}}
	void := record.Exactly("cpu", "BenchmarkSort", "s", record.LessIsBetter, 2.5)
	void.Void = "it was disturbed"
	d.Rows = []record.Row{record.Exactly("time", "BenchmarkSort", "ns", record.LessIsBetter, 12), void}
	want := []Result{
		{Name: "plain sweep-100", Value: 10, Unit: "requests/s"},
		{Name: "plain sweep-10", Value: 10, Unit: "requests/s"},
		{Name: "costly sweep-10", Unit: "requests/s", Failed: "it hung"},
		{Name: "plain BenchmarkSort time", Value: 12, Unit: "ns"},
		{Name: "plain BenchmarkSort cpu", Value: 2.5, Unit: "s", Failed: "it was disturbed"},
	}
	if diff := cmp.Diff(want, Results(d)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
