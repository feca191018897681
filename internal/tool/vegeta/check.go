package vegeta

import (
	"cmp"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// pause: timers are up to a millisecond late, plus garbage collection. With an epoll server on shared CPUs, p99 from the intended starts was
// 1.3 to 2.4 ms at 500 and 1,000 arrivals per second, and 6.7 and 8.5 ms at 10,000.
const pause = 10 * time.Millisecond

// Name implements tool.Tool.
func (Tool) Name() record.Tool { return program }

// Install implements tool.Tool.
func (Tool) Install() string { return "go install github.com/tsenart/vegeta/v12@latest" }

// Check implements tool.Tool. vegeta does not report the HTTP version of answers.
func (Tool) Check(l tool.Load) []tool.Refusal {
	return tool.Refusals(
		tool.RefuseScript(l), tool.RefuseMix(l), tool.RefuseHTTP2(l, "and vegeta does not tell in which version it was answered"), tool.RefuseStreams(l), tool.RefuseDuet(l),
		checkRates(l), checkRecords(l), tool.RefuseRatesAbove(l, MaxRatePerCPU),
	)
}

func checkRates(l tool.Load) *tool.Refusal {
	for i, level := range l.Levels {
		if l.Search.IsZero() && (level.RequestsPerSecond == 0 || level.RampToRequestsPerSecond > 0) {
			return tool.Refuse("%s.levels[%d] has no constant rate, and vegeta sustains nothing else", l.Field, i).Or("set requestsPerSecond without rampToRequestsPerSecond")
		}
	}
	return nil
}

func checkRecords(l tool.Load) *tool.Refusal {
	for i, level := range l.Levels {
		if n, seconds := requests(l.Share(level)), int64(l.DurationSeconds); n > maxRequests {
			return tool.Refuse("%s.durationSeconds is %d, in which a generator makes up to %d requests of levels[%d], and vegeta leaves a record of each, which must be no more than %d", l.Field, seconds, n, i, maxRequests).
				Or("make it %d at most", maxRequests*seconds/n)
		}
	}
	return nil
}

// Caveats implements tool.Tool.
func (Tool) Caveats(record.Cell, bool) tool.Caveats {
	return tool.Caveats{Pause: pause, ReadsBodies: true}
}

const (
	// MaxRatePerCPU is about what vegeta sends from one virtual CPU: 24,272 on a Xeon. An AMD EPYC (Zen 5) sent 49,558, with a median delay of
	// 12 ms. Memory and the length of search steps follow from it.
	MaxRatePerCPU = 25_000
	// maxRequests bounds a cell's records, which the agent reads all at once.
	maxRequests   = 1_000_000
	gapPerRequest = 10 * time.Microsecond
	// memory is vegeta's without workers. memoryPerRequest is the agent's to read a record: 110 bytes of text, headers, and the parsed row, up
	// to three times while the list grows (BenchmarkRecords).
	memory           = 64 << 20
	memoryPerRequest = 1 << 10
	// memoryPerWorker is for a goroutine, and the two of its connection with their buffers.
	memoryPerWorker = 64 << 10
)

// requests bounds a share's requests. For a search it uses the highest rate.
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
