package profiler

import (
	"errors"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

// ErrNoDifference is the error of two runs from which no cost of a request follows.
var ErrNoDifference = errors.New("a cost of a request needs two runs, of which the second answers more requests and costs more")

// PerRequest is what one request costs: what a second run cost more than a first, for each request that it answered more. What start and end of
// the program cost is in both, and cancels out.
func PerRequest(fewer, more Result) (float64, error) {
	requests, cost := more.Requests-fewer.Requests, more.Cost()-fewer.Cost()
	if fewer.Tool != more.Tool || requests <= 0 || fewer.Cost() <= 0 || cost <= 0 {
		return 0, fmt.Errorf("%w: %d requests for %d, and %d for %d", ErrNoDifference, fewer.Requests, fewer.Cost(), more.Requests, more.Cost())
	}
	return float64(cost) / float64(requests), nil
}

// EachOf is what one request costs of an event that a counter counts, or of a time, and whether that follows. It may be 0, and below it by chance:
// counters of the kernel are no exact counts of what a program does.
func EachOf(event string, fewer, more Result) (each float64, known bool) {
	a, b := fewer.counter(event), more.counter(event)
	requests := more.Requests - fewer.Requests
	if a == nil || b == nil || requests <= 0 {
		return 0, false
	}
	return (*b - *a) / float64(requests), true
}

// counter is the value of a counter; nil if it was not measured.
func (r Result) counter(event string) *float64 {
	i := slices.IndexFunc(r.Counters, func(c perfstat.Counter) bool { return c.Event == event })
	if i < 0 {
		return nil
	}
	return r.Counters[i].Value
}

// Cost is the number of instructions or system calls of a run; 0 if neither was counted to the end.
func (r Result) Cost() int64 {
	for _, name := range []string{perfstat.Instructions, perfstat.Instructions + perfstat.UserOnly} {
		if v := r.counter(name); v != nil {
			return int64(*v)
		}
	}
	switch {
	case r.Costs != nil:
		return r.Costs.Total.At(0)
	case r.Calls != nil:
		return r.Calls.Total.Count
	}
	return 0
}
