package k6

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// gap is what k6 needs beside the measured time, since it compiles its script first and sorts its samples at the end; gapPerUser is
	// what each virtual user adds to it: a JavaScript engine to be made.
	gap        = 1500 * time.Millisecond
	gapPerUser = time.Millisecond
	// memory is what k6 needs with no virtual user, for 8 bytes of each sample of several metrics; memoryPerUser is what each of them adds:
	// a JavaScript engine.
	memory        = 384 << 20
	memoryPerUser = 512 << 10
)

// Needs implements tool.Tool. Connections are virtual users.
func (Tool) Needs(share record.Cell) tool.Needs {
	users := int64(share.Connections)
	return tool.Needs{
		Gap:         gap + time.Duration(users)*gapPerUser,
		MemoryBytes: users*tool.ConnectionBytes + memory + users*memoryPerUser,
	}
}
