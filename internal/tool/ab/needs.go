package ab

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// GapPerSecond is what ab needs after each second of the measured time: it sorts its records four times, at about 1.2 µs a request in all,
// and makes at most 250,000 requests a second.
const GapPerSecond = 300 * time.Millisecond

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	return tool.Needs{
		Gap:         tool.LeastGap + time.Duration(share.DurationSeconds)*GapPerSecond,
		MemoryBytes: int64(share.Connections)*tool.ConnectionBytes + Requests(share.DurationSeconds)*BytesPerRequest,
	}
}
