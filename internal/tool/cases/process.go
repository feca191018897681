package cases

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// ProcessCase is the name of the case that OfProcess returns.
const ProcessCase = "process"

// OfProcess returns the case of a whole process whose output is not read: its wall time and CPU time in ns, and its peak memory in bytes. A
// peak of 0 is unknown and left out.
func OfProcess(wall, cpu time.Duration, peakBytes int64) record.Case {
	value := func(metric, unit string, v int64) record.CaseValue {
		return record.CaseValue{Metric: metric, Unit: unit, Better: record.LessIsBetter, Samples: []float64{float64(v)}}
	}
	c := record.Case{Name: ProcessCase, Values: []record.CaseValue{value(wallTime, "ns", wall.Nanoseconds()), value(cpuTime, "ns", cpu.Nanoseconds())}}
	if peakBytes > 0 {
		c.Values = append(c.Values, value("Peak memory", "B", peakBytes))
	}
	return c
}
