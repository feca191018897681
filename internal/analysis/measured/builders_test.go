package measured_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

var point = record.Point{Load: "sweep", Connections: 10}

// trial is one cell of a server on CPU 1 and of generators on CPU 0 of their own nodes, each with 10,000 requests in
// 5 s.
func trial(generators int) *record.TrialData {
	t := &record.TrialData{Manifest: record.TrialManifest{PlannedTrial: record.PlannedTrial{Name: "one", Block: 1, Servers: []string{"go"}}}}
	t.Servers = make([]record.ObserverResult, 1)
	t.Servers[0].Environment.Node = "server"
	t.Servers[0].Cells = []record.CellObservation{{
		Point: point, CPUsAllowed: "1", CPUNanos: 4_000_000_000, BusyNanos: 4_000_000_000, CoreNanos: 5_000_000_000, RSSBytes: 1 << 20,
		Network: record.Network{SegmentsOut: 10_000, PassiveOpens: 10},
	}}
	for i := range generators {
		t.Generators = append(t.Generators, record.GeneratorResult{
			Environment: record.Environment{Node: "loadgen-" + string(rune('a'+i))},
			Cells: []record.CellRun{{
				Point: point, CPUsAllowed: "0", CPUNanos: 2_000_000_000, Network: record.Network{SegmentsOut: 10_000},
				Measurement: &record.Measurement{DurationMicros: 5_000_000, Requests: 10_000, Bytes: 1_280_000, Connections: 10, Threads: 1},
			}},
		})
	}
	t.Generators[0].Responses = []record.Response{{Path: "/", Status: 200, BodyBytes: 11, HeaderBytes: 117, BodySHA256: "a"}}
	return t
}

func first(t *record.TrialData) (*record.CellRun, *record.CellObservation) {
	return &t.Generators[0].Cells[0], &t.Servers[0].Cells[0]
}

func level(t *record.TrialData) planned.Level {
	return planned.Level{
		Point: point, Tool: record.ToolWrk, Generators: int32(len(t.Generators)), Threads: 1, Connection: record.KeepAlive, Path: "/",
		DurationSeconds: 5,
	}
}

func read(t *testing.T, data *record.TrialData) *measured.Facts {
	t.Helper()
	return readAt(t, data, level(data), nil)
}

func readAt(t *testing.T, data *record.TrialData, l planned.Level, sizes map[string]measured.Sizes) *measured.Facts {
	t.Helper()
	f, err := measured.Read(&histogram.Decoder{}, l, planned.Implementation{Name: "go", CPUs: 1}, data, sizes)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func of(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
