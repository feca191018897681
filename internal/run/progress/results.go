package progress

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// p99 is the quantile that users see during a run.
const p99 = 0.99

// Results returns a trial's values in order: throughput and latency of each cell over all generators, and the rows.
func Results(d record.TrialData) []Result {
	var out []Result
	for _, c := range d.Manifest.Cells {
		for server := range d.Manifest.Servers {
			if found := throughput(d, c, server); found.Value > 0 || found.Failed != "" {
				out = append(out, found)
			}
		}
	}
	for _, row := range d.Rows {
		name := row.Case + " " + row.Metric
		if len(d.Manifest.Servers) > 1 {
			name = d.Manifest.Servers[row.Server] + " " + name
		}
		out = append(out, Result{Name: name, Value: row.Value, Unit: row.Unit, Failed: row.Void})
	}
	return out
}

// Marked adds the doubts about a trial's values, from a table with the trial. Without the other trials of the run, the
// table lacks the checks between trials.
func Marked(results []Result, t analysis.Table, d record.TrialData) []Result {
	doubts := map[string]string{}
	for _, c := range d.Manifest.Cells {
		for k, server := range d.Manifest.Servers {
			doubts[nameOf(d, c, k)] = doubtOf(t, c, server, d.Manifest.Block)
		}
	}
	program := util.First(t.Programs, func(p *validity.Program) bool { return p.Trial == d.Manifest.Name })
	for k := range results {
		results[k].Doubt = doubts[results[k].Name]
		if program != nil {
			results[k].Doubt = doubt(program.Validity, program.Reasons)
		}
	}
	return results
}

func doubtOf(t analysis.Table, at record.Cell, server string, block int32) string {
	if g := t.Group(record.PointOf(at), server); g != nil {
		if c := util.First(g.Cells, func(c *validity.Cell) bool { return c.Block == block }); c != nil {
			return doubt(c.Validity, c.Reasons)
		}
	}
	for _, c := range t.Capacities {
		trial := util.First(c.Trials, func(t *capacity.Trial) bool { return t.Block == block })
		if c.Load != at.Load || c.Implementation != server || trial == nil {
			continue
		}
		if s := util.First(trial.Steps, func(s *validity.Step) bool { return s.Step == at.Step }); s != nil {
			return doubt(s.Validity, s.Reasons)
		}
	}
	return ""
}

func doubt(v validity.Validity, reasons []validity.Reason) string {
	if v == validity.Valid {
		return ""
	}
	var codes []string
	for _, r := range reasons {
		if r.Weight == v {
			codes = append(codes, string(r.Code))
		}
	}
	return strings.ToLower(string(v)) + ": " + strings.Join(util.Distinct(codes), ", ")
}

func nameOf(d record.TrialData, c record.Cell, server int) string {
	if len(d.Manifest.Servers) > 1 {
		return d.Manifest.Servers[server] + " " + timetable.CellName(c)
	}
	return timetable.CellName(c)
}

// throughput returns a server's result in a cell.
func throughput(d record.TrialData, planned record.Cell, server int) Result {
	cell := timetable.CellName(planned)
	var runs []record.CellRun
	for _, g := range d.Generators {
		for _, run := range g.Cells {
			if run.Name() == cell && run.Server == server {
				runs = append(runs, run)
			}
		}
	}
	found := ResultOf(nameOf(d, planned, server), runs)
	all := max(int(planned.Generators), len(d.Generators)) // The last ones may have left nothing.
	if missing := all - len(runs); missing > 0 && len(runs) > 0 && found.Failed == "" {
		found.Failed = fmt.Sprintf("no record from %d of %d generators", missing, all)
	}
	// A duet's report has no latencies either, since its servers wait for each other.
	if len(d.Manifest.Servers) > 1 || found.Failed != "" {
		found.P99Micros = nil
	}
	return found
}

// ResultOf combines the generators of a cell.
func ResultOf(name string, runs []record.CellRun) Result {
	found := Result{Name: name, Unit: "requests/s"}
	spread, parts := measured.Distributions{}, 0
	var timeouts, dropped int64
	var decoder histogram.Decoder
	for _, run := range runs {
		m := run.Measurement
		if m == nil {
			found.Failed = run.Error
			continue
		}
		if nanos := run.LoadNanos(); nanos > 0 {
			found.Value += float64(m.Requests) * 1e9 / float64(nanos)
		}
		parts, timeouts, dropped = parts+1, timeouts+m.Errors.Timeout, dropped+m.Dropped
		for _, l := range m.Latency {
			if spread.Read(&decoder, l) != nil {
				return found // The report names the problem.
			}
		}
	}
	spread.Require(parts)
	spread.Censor(timeouts, dropped)
	found.P99Micros = p99Of(spread)
	return found
}

func p99Of(spread measured.Distributions) *float64 {
	kind, own := spread.First(measured.Preferred...)
	if own == nil {
		return nil
	}
	for _, q := range spread.Quantiles()[kind] {
		if q.Q == p99 && q.Micros != nil {
			_, high := q.Between()
			return &high
		}
	}
	return nil
}
