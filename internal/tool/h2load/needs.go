package h2load

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// requestsPerSecond is what one thread of h2load is reckoned to make: memory, and how long a cell may be, follow from it.
	requestsPerSecond = 200_000
	// maxRequests bounds the log of a cell, of about 26 bytes a request: 260 MB. A longer one is not read.
	maxRequests = 10_000_000
	// memoryPerRequest is what the agent needs to read a row: its text, twice while it is read.
	memoryPerRequest = 64
	// gapPerRequest is what reading a row takes.
	gapPerRequest = 300 * time.Nanosecond
	// memory is what h2load needs without connections, and memoryPerStream what each stream adds.
	memory          = 16 << 20
	memoryPerStream = 8 << 10
)

// requests is how many requests a generator makes at most of its share, as far as is reckoned.
func requests(share record.Cell) int64 {
	return int64(share.Threads) * int64(share.DurationSeconds) * requestsPerSecond
}

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	read := min(requests(share), maxRequests)
	return tool.Needs{
		Gap:         tool.LeastGap + time.Duration(read)*gapPerRequest,
		MemoryBytes: memory + int64(share.Connections)*tool.ConnectionBytes + share.InFlight()*memoryPerStream + read*memoryPerRequest,
	}
}
