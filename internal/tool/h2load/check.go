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

// checkConnection refuses a connection per request, which h2load lacks.
func checkConnection(l tool.Load) *tool.Refusal {
	if l.Connection != v1alpha1.PerRequest {
		return nil
	}
	return tool.Refuse("%s.connection is PerRequest, and h2load keeps its connections", l.Field).Or("make it KeepAlive")
}

func checkThreads(l tool.Load) *tool.Refusal {
	for i, level := range l.Levels {
		if each := level.Connections / l.Generators.Pods; each < l.Generators.CPUs {
			return tool.Refuse("%s.levels[%d].connections is %d, %d for each generator pod, and each of h2load's %d threads (%s.generators.cpus) needs one", l.Field, i, level.Connections, each, l.Generators.CPUs, l.Field).
				Or("raise connections, or lower cpus")
		}
	}
	return nil
}

// checkLog refuses a duration whose log may get too long.
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
	// requestsPerSecond is the assumed rate of one thread; memory and the maximum duration follow from it.
	requestsPerSecond = 200_000
	// maxRequests bounds a cell's log to 260 MB (26 bytes per request). Longer ones are not read.
	maxRequests = 10_000_000
	// memoryPerRequest is the agent's memory per row: its text, twice while reading.
	memoryPerRequest = 64
	gapPerRequest    = 300 * time.Nanosecond
	// memory is h2load's without connections; memoryPerStream is per stream.
	memory          = 16 << 20
	memoryPerStream = 8 << 10
)

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
