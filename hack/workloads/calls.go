package main

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
)

// What no run of config/workloads can say, hack/workloads.sh counts, and writes the records: system calls by perf while wrk loads the server, connections by
// the server's own word, the sizes of programs and the time from their start to their first answer, and what a message allocates by the program's own count.
const callsRun, shareRun, startRun, allocationsRun = "zco-system-calls", "zco-busier-share", "zco-start", "ipc-allocations"

var counted = []string{callsRun, shareRun, startRun, allocationsRun}

func countedRows() (all []comparison) {
	for _, n := range []int32{10, 100} {
		all = append(all, value(fmt.Sprintf("%s-%d", callsRun, n), under(callsRun, "zco", "keepalive", n, systemCalls), "a request", theHighest, figures.AtMost(3)))
	}
	all = append(all, value("zco-threads-system-calls-100", under(callsRun, "zco-2", "keepalive", 100, systemCalls), "a request", theHighest, figures.Aim{}))
	const connections = 10
	share := source{run: shareRun, implementation: "zco", at: record.Point{Load: "open", Connections: connections}, of: busierShare}
	all = append(all, value(fmt.Sprintf("%s-%d", shareRun, connections), share, "share", theMean, figures.Aim{}))
	of := func(implementation string, q quantity) source {
		return source{run: startRun, implementation: implementation, of: q}
	}
	all = append(all,
		value("zco-start", of("zco", startMillis), "ms", theMean, figures.Aim{}),
		ratio("zco-start-to-gohttp", of("zco", startMillis), of("gohttp", startMillis), figures.Aim{}),
		value("zco-size", of("zco", programKiB), "KiB", theMean, figures.Aim{}),
		ratio("zco-size-to-gohttp", of("zco", programKiB), of("gohttp", programKiB), figures.Aim{}),
	)
	for _, test := range []string{"baseline", "goroutine", "empty-goroutine"} {
		all = append(all, value(allocationsRun+"-"+test, prints(allocationsRun, "netpoll", test, allocations), "a message", theHighest, figures.Aim{}))
	}
	return all
}

// allocations and allocated are metrics of a case: how many there are for an operation, and of how many bytes.
const allocations, allocated = "allocations", "B"

// startMillis is how long a server takes from its start to its first answer.
func startMillis(s sight) float64 {
	if s.StartNanos <= 0 {
		return math.NaN()
	}
	return float64(s.StartNanos) / 1e6
}

// programKiB is the size of the file.
func programKiB(s sight) float64 {
	if s.ProgramBytes <= 0 {
		return math.NaN()
	}
	return float64(s.ProgramBytes) / 1024
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
