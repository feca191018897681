package profiler

import (
	"errors"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

// ErrNoDifference: two runs give no cost per request.
var ErrNoDifference = errors.New("the cost of a request needs two runs; the second must answer more requests and cost more")

// PerRequest returns the cost of one request: the difference of two runs, divided by the difference of their requests. Costs of start and end
// cancel out.
func PerRequest(fewer, more Result) (float64, error) {
	requests, cost := more.Requests-fewer.Requests, more.Cost()-fewer.Cost()
	if fewer.Tool != more.Tool || requests <= 0 || fewer.Cost() <= 0 || cost <= 0 {
		return 0, fmt.Errorf("%w: %d requests for %d, and %d for %d", ErrNoDifference, fewer.Requests, fewer.Cost(), more.Requests, more.Cost())
	}
	return float64(cost) / float64(requests), nil
}

// EachOf returns a counter's cost per request, if known. It may be 0 or, by chance, negative: kernel counters are not exact.
func EachOf(event string, fewer, more Result) (each float64, known bool) {
	a, b := fewer.counter(event), more.counter(event)
	requests := more.Requests - fewer.Requests
	if a == nil || b == nil || requests <= 0 {
		return 0, false
	}
	return (*b - *a) / float64(requests), true
}

func (r Result) counter(event string) *float64 {
	i := slices.IndexFunc(r.Counters, func(c perfstat.Counter) bool { return c.Event == event })
	if i < 0 {
		return nil
	}
	return r.Counters[i].Value
}

// Cost returns a run's number of instructions or system calls; 0 if not counted to the end.
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
