package recordtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

const (
	SearchLoad              = "capacity"
	SearchConnections int32 = 50
)

// Search simulates a run that searches for each server's highest rate: 0.97e6 / CPUMicros requests/s, varied between
// trials by the noise of the options. The options' levels are ignored.
func Search(o Options, s record.Search) record.RunData {
	o.Levels = nil
	d := Run(o)
	rng := rand.New(rand.NewPCG(o.Seed, 2))
	d.Manifest.Plan.Loads = []record.Load{{Name: SearchLoad}}
	for number := int32(1); number <= s.Steps; number++ {
		d.Manifest.Plan.Cells = append(d.Manifest.Plan.Cells, o.plannedStep(number, s))
	}
	for i := range d.Trials {
		t := &d.Trials[i]
		k := slices.IndexFunc(o.Servers, func(s Server) bool { return s.Name == t.Manifest.Servers[0] })
		o.searchIn(rng, t, o.Servers[k], s)
	}
	return d
}

func (o Options) plannedStep(number int32, s record.Search) record.Cell {
	return record.Cell{
		Load: SearchLoad, Tool: record.ToolK6, Connections: SearchConnections, Step: number, Search: &s, Threads: 1, Generators: 1,
		DurationSeconds: o.Seconds, Connection: record.KeepAlive, Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}},
	}
}

func (o Options) searchIn(rng *rand.Rand, t *record.TrialData, server Server, s record.Search) {
	cpu := server.CPUMicros * math.Exp(rng.NormFloat64()*o.Noise)
	start := t.Manifest.Start
	for number := int32(1); number <= s.Steps; number++ {
		at := record.Point{Load: SearchLoad, Connections: SearchConnections, Step: number}
		t.Manifest.Cells = append(t.Manifest.Cells, o.plannedStep(number, s))
		generator := &t.Generators[0]
		rate, done := search.Next(s, search.Steps(s, generator.Cells))
		if done {
			t.Servers[0].Cells = append(t.Servers[0].Cells, o.observation(rng, server, at, start, 0, cpu))
			continue
		}
		run := o.step(at, rate, cpu, start)
		generator.Cells = append(generator.Cells, run)
		t.Servers[0].Cells = append(t.Servers[0].Cells, o.observation(rng, server, at, start, run.Measurement.Requests, cpu))
	}
}

// step is one rate: up to 97 % of the server's CPU time it answers in 1 ms; beyond that, requests are late or
// dropped.
func (o Options) step(at record.Point, rate int32, cpu float64, start time.Time) record.CellRun {
	asked := int64(rate) * int64(o.Seconds)
	answered := min(asked, int64(0.97e6/cpu*float64(o.Seconds)))
	millis := 1.0
	if answered < asked {
		millis = 80
	}
	return record.CellRun{
		Point: at, Rate: rate, Started: start, Ended: start.Add(time.Duration(o.Seconds) * time.Second), Raw: fmt.Sprintf("%s.k6.json", at.Name()),
		CPUsAllowed: "0", CPUNanos: int64(o.Seconds) * 300_000_000, AgentCPUNanos: 2_000_000,
		Network: record.Network{SegmentsOut: answered},
		Measurement: &record.Measurement{
			Tool: "k6", ToolVersion: "1.8.1", Threads: 1, Connections: at.Connections, DurationMicros: int64(o.Seconds) * 1_000_000,
			Requests: answered, Asked: asked, Dropped: asked - answered, Bytes: answered * answerBytes,
			Latency: []record.Latency{Equal(record.FromIntended, int64(millis*1000), answered)},
		},
	}
}
