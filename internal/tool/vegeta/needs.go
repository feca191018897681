package vegeta

import (
	"cmp"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// MaxRatePerCPU is about what vegeta sends from one CPU of a virtual machine: 24,272 on a Xeon. An AMD EPYC of Zen 5 sent 49,558, 12 ms late at the
	// median; memory, and how long a search's steps may be, are reckoned by it.
	MaxRatePerCPU = 25_000
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

// requests is how many requests a generator makes at most of its share. The rate of a search is not known before: its highest is.
func requests(share record.Cell) int64 {
	return cmp.Or(int64(share.RequestsPerSecond), int64(share.Threads)*MaxRatePerCPU) * int64(share.DurationSeconds)
}

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	read := min(requests(share), maxRequests)
	return tool.Needs{
		Gap:         tool.LeastGap + margin + timeout + time.Duration(read)*gapPerRequest,
		MemoryBytes: memory + int64(share.Connections)*(tool.ConnectionBytes+memoryPerWorker) + read*memoryPerRequest,
	}
}
