package observe

import (
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// course converts a cell's cumulative counters to counts per interval.
type course struct {
	series        record.Series
	begun         bool
	cpu, segments int64
	// err is the first reason for a gap in the series; late is the latest sample's delay.
	err  error
	late time.Duration
}

func newCourse() *course {
	return &course{series: record.Series{EveryMillis: sampleEvery.Milliseconds()}}
}

func (c *course) add(s sampled, late time.Duration) {
	if s.err != nil && c.err == nil {
		c.err = s.err
	}
	c.late = max(c.late, late)
	if c.begun {
		c.series.CPUNanos = append(c.series.CPUNanos, s.cpu-c.cpu)
		c.series.SegmentsOut = append(c.series.SegmentsOut, s.segments-c.segments)
		c.series.KHz = append(c.series.KHz, s.kHz)
	}
	c.begun, c.cpu, c.segments = true, s.cpu, s.segments
}

func (c *course) describe(cell *record.CellObservation) {
	switch {
	case c.err != nil:
		missing(cell, nameSeries, c.err)
		return
	case len(c.series.CPUNanos) == 0:
		return
	case c.late > sampleEvery/2:
		const text = "The intervals of the cell's course have different lengths: a sample was taken %v late."
		cell.Unknown = append(cell.Unknown, fmt.Sprintf(text, c.late.Round(time.Millisecond)))
	}
	if slices.Contains(c.series.KHz, 0) {
		c.series.KHz = nil
	}
	cell.Series = &c.series
}
