package cluster

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
)

// span is a time in which load ran, in the operator's clock. A zero span is none.
type span struct{ from, to time.Time }

func (s span) length() time.Duration { return s.to.Sub(s.from) }

// cellLoad is the load of one cell.
type cellLoad struct {
	warmup, measured span
	// late is how much later than planned the measured tool was started.
	late time.Duration
}

// first is when the cell's load began.
func (c cellLoad) first() time.Time {
	if c.warmup.from.IsZero() {
		return c.measured.from
	}
	return c.warmup.from
}

// gap is the time without load between warm-up and measured time.
func (c cellLoad) gap() time.Duration {
	if c.warmup.from.IsZero() {
		return 0
	}
	return c.measured.from.Sub(c.warmup.to)
}

// trialLoads finds when load ran in a trial, cell by cell.
func trialLoads(t record.TrialData) ([]cellLoad, error) {
	m := t.Manifest
	if len(t.Generators) == 0 || len(t.Generators[0].Cells) != len(m.Cells) {
		return nil, fmt.Errorf("reading the loads of trial %s: its generator's record does not have its %d cells", m.Name, len(m.Cells))
	}
	var offset time.Duration
	for _, c := range m.Clocks {
		if c.Member == record.MemberGenerator(0) {
			offset = time.Duration(c.OffsetNanos)
		}
	}
	loads := make([]cellLoad, 0, len(m.Cells))
	for i, slot := range timetable.Of(m.Cells) {
		run := t.Generators[0].Cells[i]
		if run.Measurement == nil {
			return nil, fmt.Errorf("reading the loads of trial %s: cell %s has no measurement: %s", m.Name, timetable.CellName(slot.Cell), run.Error)
		}
		c := cellLoad{}
		c.measured.from = run.Started.Add(-offset)
		c.measured.to = c.measured.from.Add(time.Duration(run.Measurement.DurationMicros) * time.Microsecond)
		c.late = c.measured.from.Sub(m.Start.Add(slot.Measure))
		if slot.Measure > slot.Warmup {
			c.warmup = span{m.Start.Add(slot.Warmup + max(c.late, 0)), m.Start.Add(slot.Measure - timetable.WarmupGap)}
		}
		loads = append(loads, c)
	}
	return loads, nil
}

// betweenCells are the times without load from each cell's end to the next one's measured time.
func betweenCells(loads []cellLoad) []time.Duration {
	var dead []time.Duration
	for i := 1; i < len(loads); i++ {
		dead = append(dead, loads[i].first().Sub(loads[i-1].measured.to)+loads[i].gap())
	}
	return dead
}

// underLoad is the time in which load ran.
func underLoad(loads []cellLoad) time.Duration {
	var sum time.Duration
	for _, c := range loads {
		sum += c.warmup.length() + c.measured.length()
	}
	return sum
}

// begin and end are when a trial's load began and ended.
func begin(loads []cellLoad) time.Time { return loads[0].first() }
func end(loads []cellLoad) time.Time   { return loads[len(loads)-1].measured.to }
