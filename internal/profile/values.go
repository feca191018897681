package profile

import (
	"errors"
	"fmt"

	"loadstone.dev/loadstone/internal/profile/memcheck"
	"loadstone.dev/loadstone/internal/record"
)

// Metrics of profiles, in a value for each request unless they say otherwise.
const (
	MetricInstructions = "Instructions"
	MetricSystemCalls  = "SystemCalls"
	// MetricPeakHeap and MetricLeaked are in bytes of the whole run.
	MetricPeakHeap = "PeakHeap"
	MetricLeaked   = "Leaked"
)

// ErrNoDifference is the error of two runs from which no cost of a request follows.
var ErrNoDifference = errors.New("a cost of a request needs two runs, of which the second answers more requests and costs more")

// PerRequest is what one request costs: what a second run cost more than a first, for each request that it answered more. What start and end of
// the program cost is in both, and cancels out.
func PerRequest(fewer, more Result) (float64, error) {
	requests, cost := more.Requests-fewer.Requests, more.cost()-fewer.cost()
	if fewer.Tool != more.Tool || requests <= 0 || fewer.cost() <= 0 || cost <= 0 {
		return 0, fmt.Errorf("%w: %d requests for %d, and %d for %d", ErrNoDifference, fewer.Requests, fewer.cost(), more.Requests, more.cost())
	}
	return float64(cost) / float64(requests), nil
}

// cost is the number of instructions or system calls of a run; 0 if neither was counted to the end.
func (r Result) cost() int64 {
	switch {
	case r.Costs != nil:
		return r.Costs.Total.At(0)
	case r.Calls != nil:
		return r.Calls.Total.Count
	}
	return 0
}

// Rows are the values of a program under a tool, in a case of a name, of two runs with different numbers of requests. A value that
// does not follow from them is left out: a leak of nothing too, which is a verdict and no value.
func Rows(name string, fewer, more Result) []record.Row {
	row := func(metric, unit string, value float64) []record.Row {
		if value <= 0 {
			return nil
		}
		return []record.Row{record.Exactly(metric, name, unit, record.LessIsBetter, value)}
	}
	switch more.Tool {
	case Callgrind, Cachegrind:
		each, _ := PerRequest(fewer, more)
		return row(MetricInstructions, "1", each)
	case Strace:
		each, _ := PerRequest(fewer, more)
		return row(MetricSystemCalls, "1", each)
	case Massif, MassifHeap, MassifPages:
		if more.Massif == nil {
			return nil
		}
		return row(MetricPeakHeap, "B", float64(more.Massif.PeakHeap()))
	case Memcheck:
		if more.Memcheck == nil || more.Memcheck.Verdicts.Leaks.Answer != Found {
			return nil
		}
		sums := more.Memcheck.LeaksByKind()
		return row(MetricLeaked, "B", float64(sums[memcheck.DefinitelyLost].Bytes+sums[memcheck.IndirectlyLost].Bytes))
	case PerfStat:
	}
	return nil
}
