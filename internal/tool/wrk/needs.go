package wrk

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	return tool.Needs{Gap: tool.LeastGap, MemoryBytes: int64(share.Connections) * tool.ConnectionBytes}
}
