package h2load

import (
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Name implements tool.Tool.
func (Tool) Name() record.Tool { return program }

// Install implements tool.Tool.
func (Tool) Install() string { return "apt-get install nghttp2-client" }

// Check implements tool.Tool.
func (Tool) Check(l tool.Load) []tool.Refusal {
	return tool.Refusals(
		tool.RefuseRates(l), tool.RefuseScript(l), tool.RefuseMix(l), tool.RefuseDuet(l), checkConnection(l), checkThreads(l), checkLog(l),
	)
}

// checkConnection refuses a connection for each request, of which h2load knows nothing.
func checkConnection(l tool.Load) *tool.Refusal {
	if l.Connection != v1alpha1.PerRequest {
		return nil
	}
	return tool.Refuse("%s.connection is PerRequest, and h2load keeps its connections", l.Field).Or("make it KeepAlive")
}

// checkThreads refuses threads without a connection.
func checkThreads(l tool.Load) *tool.Refusal {
	for i, level := range l.Levels {
		if each := level.Connections / l.Generators.Pods; each < l.Generators.CPUs {
			return tool.Refuse("%s.levels[%d].connections is %d, %d for each generator pod, and each of h2load's %d threads (%s.generators.cpus) needs one", l.Field, i, level.Connections, each, l.Generators.CPUs, l.Field).
				Or("raise connections, or lower cpus")
		}
	}
	return nil
}

// checkLog refuses a duration in which the log may become too long.
func checkLog(l tool.Load) *tool.Refusal {
	share := l.Share(v1alpha1.Level{})
	if requests(share) <= maxRequests {
		return nil
	}
	refusal := tool.Refuse("%s.durationSeconds is %d, in which h2load on %d CPUs may log %d requests, and a log may have %d", l.Field, l.DurationSeconds, share.Threads, requests(share), maxRequests)
	seconds, cpus := maxRequests/(int64(share.Threads)*requestsPerSecond), maxRequests/(int64(l.DurationSeconds)*requestsPerSecond)
	switch {
	case seconds == 0 && cpus == 0:
		return refusal.Or("make it %d at most, and lower generators.cpus to 1", maxRequests/requestsPerSecond)
	case seconds == 0:
		return refusal.Or("lower generators.cpus to %d at most", cpus)
	case cpus == 0:
		return refusal.Or("make it %d at most", seconds)
	}
	return refusal.Or("make it %d at most, or lower generators.cpus to %d at most", seconds, cpus)
}

// Caveats implements tool.Tool.
func (Tool) Caveats(cell record.Cell, _ bool) tool.Caveats {
	return tool.Caveats{OtherBytes: cell.Protocol() == record.HTTP2}
}

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
