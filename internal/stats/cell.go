package stats

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loadstone.dev/loadstone/internal/record"
)

// facts are all that is known of one cell.
type facts struct {
	level          Level
	implementation Implementation
	trial          *record.TrialData
	// runs are the generators' records of the cell, nil where a generator has none.
	runs []*record.CellRun
	// seen is the observer's record of the cell; nil if it has none.
	seen *record.CellObservation
	// cell holds the values computed so far.
	cell Cell
	// histograms hold the cell's latencies of each kind, over its generators.
	histograms map[record.LatencyKind]*hdrhistogram.Histogram
}

// gather finds the records of a cell and computes its values.
func gather(l Level, i Implementation, t *record.TrialData) (*facts, error) {
	f := &facts{level: l, implementation: i, trial: t}
	for g := range t.Generators {
		f.runs = append(f.runs, find(t.Generators[g].Cells, func(c *record.CellRun) bool { return c.Point == l.Point }))
	}
	f.seen = find(t.Server.Cells, func(c *record.CellObservation) bool { return c.Point == l.Point })
	f.cell = Cell{Trial: t.Manifest.Trial, Block: t.Manifest.Block, Attempt: t.Manifest.Attempt}
	f.load()
	f.server()
	if err := f.latency(); err != nil {
		return nil, fmt.Errorf("reading the latencies of %s at %s: %w", t.Manifest.Trial, l.Name(), err)
	}
	f.cell.Pinning = f.pinning()
	return f, nil
}

// find returns the first element that fits, or nil.
func find[T any](list []T, fits func(*T) bool) *T {
	for i := range list {
		if fits(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// complete says whether every generator has a measurement.
func (f *facts) complete() bool {
	for _, r := range f.runs {
		if r == nil || r.Measurement == nil || r.Error != "" {
			return false
		}
	}
	return len(f.runs) > 0
}

// load computes what the generators measured. A generator's throughput is its requests over its tool's own duration, and the
// throughputs of several generators add up.
func (f *facts) load() {
	var throughput, cpus float64
	for _, r := range f.runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		m := r.Measurement
		seconds := float64(m.DurationMicros) / 1e6
		f.cell.Requests += m.Requests
		f.cell.Errors = add(f.cell.Errors, m.Errors)
		f.cell.LoadSeconds = max(f.cell.LoadSeconds, seconds)
		if seconds > 0 {
			throughput += float64(m.Requests) / seconds
			cpus += float64(r.CPUNanos) / 1e9 / seconds
		}
	}
	if !f.complete() || f.cell.LoadSeconds <= 0 {
		return
	}
	f.cell.Throughput = positive(throughput)
	f.cell.GeneratorCPUs = positive(cpus)
}

// server computes what the server spent. CPU time is related to the time under load, not to the observer's window, which goes on
// while the tool stops and writes its histogram: in short cells that would hide a busy server.
func (f *facts) server() {
	if f.seen == nil || f.seen.Error != "" {
		return
	}
	f.cell.ServerRSS = positive(float64(f.seen.RSSBytes))
	f.cell.ServerPeakMemory = positive(float64(f.seen.PeakMemoryBytes))
	if f.cell.LoadSeconds > 0 {
		f.cell.ServerCPUs = positive(float64(f.seen.CPUNanos) / 1e9 / f.cell.LoadSeconds)
	}
	if f.complete() && f.cell.Requests > 0 {
		f.cell.CPUPerRequest = positive(float64(f.seen.CPUNanos) / 1e3 / float64(f.cell.Requests))
	}
}

// latency reads the histograms of all generators and adds those of one kind.
func (f *facts) latency() error {
	f.histograms = map[record.LatencyKind]*hdrhistogram.Histogram{}
	for _, r := range f.runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		for _, l := range r.Measurement.Latency {
			if err := mergeEncoded(f.histograms, l); err != nil {
				return err
			}
		}
	}
	for _, kind := range latencyKinds {
		if h := f.histograms[kind]; h != nil && h.TotalCount() > 0 {
			f.cell.MeanLatency = positive(h.Mean())
			break
		}
	}
	return nil
}

// positive is a pointer to a value, or nil for a value that can only mean "not measured".
func positive(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}

// add sums errors by kind.
func add(a, b record.Errors) record.Errors {
	return record.Errors{
		Connect: a.Connect + b.Connect, Read: a.Read + b.Read, Write: a.Write + b.Write,
		Timeout: a.Timeout + b.Timeout, Status: a.Status + b.Status,
	}
}
