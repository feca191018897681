package analysis_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func courses(t *testing.T) (out [][]float64) {
	t.Helper()
	text, err := os.ReadFile("testdata/courses.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var row []float64
		for _, field := range strings.Fields(line) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out
}

// everyday gives a run what good cells have: dips, a little steal, other processes, a lost segment, an answer cut off
// at the end, an idle sibling thread.
type everyday struct {
	rng     *rand.Rand
	courses [][]float64
	head    map[string]int64
}

func (e everyday) disturb(d *record.RunData) {
	for i := range d.Trials {
		t := &d.Trials[i]
		t.Servers[0].Environment.Governor, t.Servers[0].Environment.SMTSiblings = "unknown", "1,3"
		for _, s := range t.Servers {
			e.server(s.Cells)
		}
		for _, g := range t.Generators {
			e.answers(g.Responses, t.Manifest.Servers)
			e.generator(g.Cells, t.Manifest.Servers)
		}
	}
}

func (e everyday) answers(all []record.Response, servers []string) {
	for i := range all {
		all[i].HeaderBytes = e.head[servers[all[i].Server]]
	}
}

func (e everyday) server(cells []record.CellObservation) {
	for i := range cells {
		o := &cells[i]
		o.StealNanos = int64(0.009 * e.rng.Float64() * float64(o.CoreNanos))
		o.BusyNanos += int64(0.02 * e.rng.Float64() * float64(o.CoreNanos))
		o.Network.Retransmits = e.rng.Int64N(5)
		if o.Sockets != nil {
			o.Sockets.Established -= e.rng.Int64N(o.Sockets.Established/100 + 1)
			o.Sockets.Jain = 0.9 + 0.1*e.rng.Float64()
		}
		course := e.courses[e.rng.IntN(len(e.courses))]
		for k := range o.Series.SegmentsOut {
			v := course[k%len(course)]
			o.Series.SegmentsOut[k], o.Series.CPUNanos[k] = int64(float64(o.Series.SegmentsOut[k])*v), int64(float64(o.Series.CPUNanos[k])*v)
		}
	}
}

func (e everyday) generator(cells []record.CellRun, servers []string) {
	for i := range cells {
		r := &cells[i]
		m, size := r.Measurement, e.head[servers[r.Server]]+11
		m.Bytes = m.Requests*size + int64(e.rng.Float64()*float64(int64(m.Connections)*size))
		if m.Tool == "ab" {
			m.Bytes += 24 * m.Requests // "Connection: keep-alive"
		}
		if r.Audit != nil {
			r.Audit.Requests = 300 + e.rng.Int64N(3600)
		}
	}
}

// as turns every cell of a run into one of another tool.
func as(d *record.RunData, l record.Cell, change func(*record.TrialData, *record.CellRun, *record.CellObservation)) {
	alter := func(cells []record.Cell) {
		for k := range cells {
			cells[k].Tool, cells[k].Connection, cells[k].Script = l.Tool, l.Connection, l.Script
		}
	}
	alter(d.Manifest.Plan.Cells)
	for i := range d.Trials {
		t := &d.Trials[i]
		alter(t.Manifest.Cells)
		for _, g := range t.Generators {
			for k := range g.Cells {
				g.Cells[k].Measurement.Tool = string(l.Tool)
				change(t, &g.Cells[k], &t.Servers[0].Cells[k])
			}
		}
	}
}

func atRate(t *record.TrialData, r *record.CellRun, o *record.CellObservation) {
	const rate = 2000
	share := rate * 5 / float64(r.Measurement.Requests)
	others := o.BusyNanos - o.CPUNanos
	r.CPUNanos, o.CPUNanos = int64(float64(r.CPUNanos)*share), int64(float64(o.CPUNanos)*share)
	o.BusyNanos = o.CPUNanos + others
	recordtest.SetRequests(r.Measurement, rate*5)
	r.Measurement.Asked, r.RequestsPerSecond, o.RequestsPerSecond = rate*5, rate, rate
	r.Measurement.Latency = []record.Latency{recordtest.Widen(record.FromIntended, recordtest.Thin(r.Measurement.Latency[0], rate*5))}
	for k := range t.Manifest.Cells {
		t.Manifest.Cells[k].RequestsPerSecond = rate
	}
	o.RSSStartBytes = o.RSSBytes
}

func perRequest(_ *record.TrialData, r *record.CellRun, o *record.CellObservation) {
	o.Network.PassiveOpens, o.Sockets, r.Network.TimeWait = r.Measurement.Requests, nil, 10_000
	r.Measurement.Latency = []record.Latency{recordtest.Widen(record.WithConnection, r.Measurement.Latency[0])}
}

// goodRuns are runs of 200 good cells each, of all tools.
func goodRuns() map[string]record.RunData {
	run := func(blocks int32, change func(*recordtest.Options)) record.RunData {
		o := recordtest.Duel(blocks)
		o.Seed, o.Levels = 11, []int32{100}
		o.Servers = []recordtest.Server{{Name: "go", CPUMicros: 24, RSSBytes: 9 << 20}, {Name: "rust", CPUMicros: 20, RSSBytes: 3 << 20}}
		change(&o)
		return recordtest.Run(o)
	}
	same := func(*recordtest.Options) {}
	keep := func(*record.TrialData, *record.CellRun, *record.CellObservation) {}
	runs := map[string]record.RunData{
		"wrk":                   run(10, func(o *recordtest.Options) { o.Levels = []int32{1, 100, 1000} }),
		"wrk of four pods":      run(10, func(o *recordtest.Options) { o.Generators = 4 }),
		"a duet":                run(10, func(o *recordtest.Options) { o.Duet = true }),
		"ab":                    run(10, same),
		"ab without keep-alive": run(10, same),
		"k6":                    run(10, same),
		"k6 with a script":      run(10, same),
		"k6 at a rate":          run(10, same),
	}
	with := func(name string, l record.Cell, change func(*record.TrialData, *record.CellRun, *record.CellObservation)) {
		d := runs[name]
		as(&d, l, change)
		runs[name] = d
	}
	with("ab", record.Cell{Tool: record.ToolAb}, keep)
	with("ab without keep-alive", record.Cell{Tool: record.ToolAb, Connection: record.PerRequest}, perRequest)
	with("k6", record.Cell{Tool: record.ToolK6}, keep)
	with("k6 with a script", record.Cell{Tool: record.ToolK6, Script: &record.Script{}}, func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) { r.Audit = nil })
	with("k6 at a rate", record.Cell{Tool: record.ToolK6}, atRate)
	runs["k6 at a rate"].Manifest.Plan.Cells[0].RequestsPerSecond = 2000
	return runs
}

func TestNoneOf200GoodCellsIsAccused(t *testing.T) {
	all := courses(t)
	cells, accused := 0, map[validity.Code]int{}
	runs := goodRuns()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		d := runs[name]
		everyday{rand.New(rand.NewPCG(17, 1)), all, map[string]int64{"go": 64, "rust": 117}}.disturb(&d)
		for _, g := range analyse(t, d).Groups {
			for _, c := range g.Cells {
				cells++
				for _, r := range c.Reasons {
					accused[r.Code]++
					t.Errorf("%s: %s of %s in block %d: %+v", name, g.Name(), g.Implementation, c.Block, r)
				}
			}
		}
	}
	if cells < 200 {
		t.Errorf("only %d cells were looked at", cells)
	}
	t.Logf("%d cells, accused by kind: %v", cells, accused)
}
