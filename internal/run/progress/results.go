package progress

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis/measured"
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

// throughput returns a server's result in a cell. In a duet, the name includes the server.
func throughput(d record.TrialData, planned record.Cell, server int) Result {
	cell := timetable.CellName(planned)
	name := cell
	if len(d.Manifest.Servers) > 1 {
		name = d.Manifest.Servers[server] + " " + cell
	}
	var runs []record.CellRun
	for _, g := range d.Generators {
		for _, run := range g.Cells {
			if run.Name() == cell && run.Server == server {
				runs = append(runs, run)
			}
		}
	}
	found := ResultOf(name, runs)
	all := max(int(planned.Generators), len(d.Generators)) // The last ones may have left nothing.
	if missing := all - len(runs); missing > 0 && len(runs) > 0 && found.Failed == "" {
		found.Failed = fmt.Sprintf("%d of %d generators have no record of it", missing, all)
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
				return found // The report says what is wrong with it.
			}
		}
	}
	spread.Require(parts)
	spread.Censor(timeouts, dropped)
	found.P99Micros = p99Of(spread)
	return found
}

// p99Of returns the 99th percentile of the preferred latencies; nil if unknown.
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
