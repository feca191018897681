package main

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
)

// callsRun and shareRun are no runs of config/workloads: hack/workloads.sh counts what no run can, by perf while wrk loads the server, and by the server's
// own word on its connections, and writes the records.
const callsRun, shareRun = "zco-system-calls", "zco-busier-share"

func countedRows() (all []comparison) {
	for _, n := range []int32{10, 100} {
		all = append(all, value(fmt.Sprintf("%s-%d", callsRun, n), under(callsRun, "zco", "keepalive", n, systemCalls), "a request", theHighest, figures.AtMost(3)))
	}
	const connections = 10
	share := source{run: shareRun, implementation: "zco", at: record.Point{Load: "open", Connections: connections}, of: busierShare}
	return append(all, value(fmt.Sprintf("%s-%d", shareRun, connections), share, "share", theMean, figures.Aim{}))
}

// systemCalls is how many a server made for a request.
func systemCalls(s sight) float64 {
	if s.SystemCalls <= 0 || s.Requests <= 0 {
		return math.NaN()
	}
	return float64(s.SystemCalls) / float64(s.Requests)
}

// busierShare is what share of the connections the busier of two threads has.
func busierShare(s sight) float64 {
	if s.BusierShare <= 0 {
		return math.NaN()
	}
	return s.BusierShare
}
