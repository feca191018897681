package profiler

import (
	"errors"
	"fmt"
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

// Cost is the number of instructions or system calls of a run; 0 if neither was counted to the end.
func (r Result) Cost() int64 {
	switch {
	case r.Costs != nil:
		return r.Costs.Total.At(0)
	case r.Calls != nil:
		return r.Calls.Total.Count
	}
	return 0
}
