package main

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/hack/bench/figures"
)

// countedRun is no run of config/workloads: perf counts there while wrk loads the server, and hack/workloads.sh writes the record.
const countedRun = "zco-system-calls"

func zcoSystemCalls() (all []comparison) {
	for _, n := range []int32{10, 100} {
		all = append(all, value(fmt.Sprintf("%s-%d", countedRun, n), under(countedRun, "zco", "keepalive", n, systemCalls), "a request", theHighest, figures.AtMost(3)))
	}
	return all
}

// systemCalls is how many a server made for a request.
func systemCalls(s sight) float64 {
	if s.SystemCalls <= 0 || s.Requests <= 0 {
		return math.NaN()
	}
	return float64(s.SystemCalls) / float64(s.Requests)
}
