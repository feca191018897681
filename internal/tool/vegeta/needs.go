package vegeta

import (
	"cmp"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// maxRatePerCPU is about what vegeta sends from one CPU of a virtual machine: 24,272 on a Xeon. An AMD EPYC of Zen 5 sent 49,558, 12 ms late at the
	// median; memory, and how long a search's steps may be, are reckoned by it.
	maxRatePerCPU = 25_000
	// pauseMillis: its timers are late by up to a millisecond, and it collects garbage. Beside an epoll server, on CPUs that others used, too, p99 from the
	// intended starts was 1.3 to 2.4 ms at 500 and 1,000 arrivals a second, and 6.7 and 8.5 ms at 10,000.
	pauseMillis = 10
	// maxRequests bounds the records of a cell, of which the agent reads all at once.
	maxRequests = 1_000_000
	// gapPerRequest is what reading a record takes: a search needs it before its next step.
	gapPerRequest = 10 * time.Microsecond
	// memory is what vegeta needs with no worker, and memoryPerRequest what the agent needs to read a record: its text of 110 bytes and its headers, and what
	// is kept of it, up to three times while the list grows (BenchmarkRecords).
	memory           = 64 << 20
	memoryPerRequest = 1 << 10
	// memoryPerWorker is what each adds: a goroutine, and the two of its connection with their buffers.
	memoryPerWorker = 64 << 10
)

// Traits implements tool.Tool.
func (Tool) Traits() tool.Traits {
	return tool.Traits{
		Install: "go install github.com/tsenart/vegeta/v12@latest", MaxRatePerCPU: maxRatePerCPU, PauseMillis: pauseMillis, MaxRequests: maxRequests,
		RatesOnly: true, WholeHandshakes: true,
	}
}

// Needs implements tool.Tool. The rate of a search is not known before: its highest is.
func (Tool) Needs(share record.Cell) tool.Needs {
	rate := cmp.Or(int64(share.RequestsPerSecond), int64(share.Threads)*maxRatePerCPU)
	requests := rate * int64(share.DurationSeconds)
	read := min(requests, maxRequests)
	return tool.Needs{
		Gap:         tool.LeastGap + margin + timeout + time.Duration(read)*gapPerRequest,
		MemoryBytes: memory + int64(share.Connections)*(tool.ConnectionBytes+memoryPerWorker) + read*memoryPerRequest,
		Requests:    requests,
	}
}
