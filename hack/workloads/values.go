package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/histogram"
	"loadstone.dev/loadstone/internal/measured"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/validity"
)

// results are those of a run, or why there are none.
type results struct {
	data    record.RunData
	table   analysis.Table
	missing string
}

// load reads runs from a folder in which each has one of its own.
func load(ctx context.Context, folder string, names []string) map[string]*results {
	all := map[string]*results{}
	for _, name := range names {
		r, err := read(ctx, folder, name)
		if err != nil {
			r.missing = err.Error()
		}
		all[name] = r
	}
	return all
}

func read(ctx context.Context, folder, name string) (*results, error) {
	r := &results{}
	if found, err := filepath.Glob(filepath.Join(folder, name, "manifest.json")); err != nil || len(found) == 0 {
		return r, fmt.Errorf("the run %s has not ended", name)
	}
	f, err := artifact.OpenFolder(folder)
	if err != nil {
		return r, err
	}
	if r.data, err = f.Load(ctx, name); err != nil {
		return r, err
	}
	r.table, err = analysis.Analyse(r.data)
	return r, err
}

// source is where the values of an implementation come from, one a block.
type source struct {
	run, implementation string
	// at and of are of servers under load, test and metric of programs that measure themselves.
	at           record.Point
	of           quantity
	test, metric string
	// evenFailed counts cells, too, that are void because the implementation failed: its failing is what is asked for.
	evenFailed bool
}

// values are those that count, by their block. A trial alone stands for its block.
func (s source) values(r *results) map[int32]float64 {
	if s.of == nil {
		return s.printed(r)
	}
	out := map[int32]float64{}
	g := validity.GroupAt(r.table.Groups, s.at, s.implementation)
	if g == nil {
		return nil
	}
	for _, c := range g.Cells {
		counts := c.Validity != validity.Void || s.evenFailed && c.ImplementationFailure()
		if v := s.of(r.sight(s.at, c)); counts && !math.IsNaN(v) {
			out[c.Block] = v
		}
	}
	return out
}

func (s source) printed(r *results) map[int32]float64 {
	void := map[string]bool{}
	for _, p := range r.table.Programs {
		void[p.Trial] = p.Validity == validity.Void
	}
	out := map[int32]float64{}
	for _, t := range r.data.Trials {
		for _, row := range t.Rows {
			if t.Manifest.Servers[0] == s.implementation && row.Case == s.test && row.Metric == s.metric && !void[t.Manifest.Name] {
				out[t.Manifest.Block] = row.Value
			}
		}
	}
	return out
}

// sight is all that was seen of a cell.
type sight struct {
	validity.Cell
	// server and tool are the records of the observer and of the first generator; nil where there are none, or where servers take turns.
	server *record.CellObservation
	tool   *record.CellRun
}

func (r *results) sight(at record.Point, c validity.Cell) sight {
	s := sight{Cell: c}
	for _, t := range r.data.Trials {
		if t.Manifest.Name != c.Trial || len(t.Servers) != 1 || len(t.Generators) == 0 {
			continue
		}
		for i := range t.Servers[0].Cells {
			if t.Servers[0].Cells[i].Point == at {
				s.server = &t.Servers[0].Cells[i]
			}
		}
		for i := range t.Generators[0].Cells {
			if t.Generators[0].Cells[i].Point == at {
				s.tool = &t.Generators[0].Cells[i]
			}
		}
	}
	return s
}

// quantity is a number that is made of what was seen of a cell; NaN where a part of it is missing.
type quantity func(sight) float64

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func cpuPerRequest(s sight) float64 { return known(s.CPUPerRequest) }

// throughput is no number of a cell in which the load generator was at its limit: it is the generator's then.
func throughput(s sight) float64 {
	if s.ThroughputIsBound {
		return math.NaN()
	}
	return known(s.Throughput)
}

// bound reports whether the load generator was at its limit in each cell of a source that counts.
func (s source) bound(r *results) bool {
	g := validity.GroupAt(r.table.Groups, s.at, s.implementation)
	if g == nil {
		return false
	}
	counting := slices.DeleteFunc(slices.Clone(g.Cells), func(c validity.Cell) bool { return c.Validity == validity.Void })
	return len(counting) > 0 && !slices.ContainsFunc(counting, func(c validity.Cell) bool { return !c.ThroughputIsBound })
}

func fairness(s sight) float64 {
	if v, ok := s.Observed(measured.Fairness); ok {
		return v
	}
	return math.NaN()
}

// unanswered is the number of connections that got no answer.
func unanswered(s sight) float64 {
	if s.server == nil || s.server.Sockets == nil {
		return math.NaN()
	}
	return float64(s.server.Sockets.Unanswered)
}

// memoryGrowth is the resident memory at the end by that at the start of the measured time.
func memoryGrowth(s sight) float64 {
	if s.server == nil || s.server.RSSStartBytes <= 0 {
		return math.NaN()
	}
	return float64(s.server.RSSBytes) / float64(s.server.RSSStartBytes)
}

// p99 is that of the cell's own requests, as the tool measured them.
func p99(s sight) float64 {
	if s.tool == nil || s.tool.Measurement == nil {
		return math.NaN()
	}
	for _, l := range s.tool.Measurement.Latency {
		if l.Kind != record.Observed {
			continue
		}
		if h, err := histogram.Decode(l.HDR); err == nil {
			return float64(h.Quantile(0.99))
		}
	}
	return math.NaN()
}
