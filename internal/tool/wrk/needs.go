package wrk

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Traits implements tool.Tool. wrk looks every 100 ms whether its time is over, and takes a pause for part of it.
func (Tool) Traits() tool.Traits {
	return tool.Traits{Install: "apt-get install wrk", EqualThreads: true, ConnectsOnce: true, Freezable: true}
}

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	return tool.Needs{Gap: tool.LeastGap, MemoryBytes: int64(share.Connections) * tool.ConnectionBytes}
}
