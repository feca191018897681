package local

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/histogram"
	"loadstone.dev/loadstone/internal/latency"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// p99 is the quantile of latencies that people see while a run goes on.
const p99 = 0.99

// quietEnough is how long before a measured time nothing may be read any more by a process that shares its CPUs with a generator.
const quietEnough = 500 * time.Millisecond

// results are the values of a trial, in their order: throughput and latency of each cell, over all generators, and the rows that are compared
// as they are.
func results(d record.TrialData) []Result {
	var out []Result
	for _, c := range d.Manifest.Cells {
		for server := range d.Manifest.Servers {
			if found := throughput(d, timetable.CellName(c), server); found.Value > 0 || found.Failed != "" {
				out = append(out, found)
			}
		}
	}
	for _, row := range d.Rows {
		out = append(out, Result{Name: row.Case + " " + row.Metric, Value: row.Value, Unit: row.Unit, Failed: row.Void})
	}
	return out
}

// throughput is that of a server in a cell, with its latency. Of a duet, whose servers take turns, the name says which server it is.
func throughput(d record.TrialData, cell string, server int) Result {
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
	return resultOf(name, runs)
}

// resultOf is what the generators of a cell have found together.
func resultOf(name string, runs []record.CellRun) Result {
	found := Result{Name: name, Unit: "requests/s"}
	spread, parts := latency.Distributions{}, 0
	var timeouts, dropped int64
	var decoder histogram.Decoder
	for _, run := range runs {
		m := run.Measurement
		switch {
		case m == nil:
			found.Failed = run.Error
			continue
		case run.ActiveNanos > 0:
			found.Value += float64(m.Requests) * 1e9 / float64(run.ActiveNanos)
		case m.DurationMicros > 0:
			found.Value += float64(m.Requests) * 1e6 / float64(m.DurationMicros)
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

// p99Of is the 99th percentile of the latencies that count first; nil if it is unknown.
func p99Of(spread latency.Distributions) *float64 {
	kind, own := spread.First(latency.Preferred...)
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

// tellFinished tells what the cells have found that have ended since it was called last, as the tools have printed it. What cannot be read yet
// is told with the trial.
func (a *attempt) tellFinished() {
	slots, done := a.Slots(), a.CellsDone()
	if len(a.Work.Servers()) > 1 || done < len(slots) && !a.mayRead(slots[done]) {
		return
	}
	var found []Result
	for ; a.told < done; a.told++ {
		if r, ok := a.readCell(slots[a.told].Cell); ok {
			found = append(found, r)
		}
	}
	if len(found) > 0 {
		a.tell(Event{Kind: EventFinished, Trial: &a.trial.PlannedTrial, Results: found})
	}
}

// mayRead reports whether reading costs no generator a part of a measured time: this process has CPUs of its own, or the next cell warms up.
func (a *attempt) mayRead(next timetable.Slot) bool {
	return a.seats.apart() || a.Now.Add(quietEnough).Before(a.Started.Add(next.Measure))
}

// readCell reads what the tools of all generators have printed of a cell. It is false if that is not whole.
func (a *attempt) readCell(c record.Cell) (Result, bool) {
	t := tools.All("")[c.Tool]
	var runs []record.CellRun
	for _, g := range a.team.generators() {
		raw, err := os.ReadFile(filepath.Join(g.dir, timetable.RawFile(c, 0)))
		if err != nil || t == nil {
			return Result{}, false
		}
		m, err := t.Parse(raw)
		if err != nil {
			return Result{}, false
		}
		runs = append(runs, record.CellRun{Point: record.PointOf(c), Measurement: &m})
	}
	return resultOf(timetable.CellName(c), runs), len(runs) > 0
}

// apart reports whether what only watches has CPUs on which no generator runs.
func (s seats) apart() bool {
	return s.owned && !slices.ContainsFunc(slices.Concat(s.generators...), func(cpu int) bool { return slices.Contains(s.rest, cpu) })
}
