package wrk

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// methods are those that wrk's own parser of requests knows, without which it does not start.
const methods = "GET POST PUT PATCH DELETE OPTIONS PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK SEARCH REPORT MERGE NOTIFY PURGE BIND REBIND " +
	"UNBIND ACL MKACTIVITY CHECKOUT M-SEARCH SUBSCRIBE UNSUBSCRIBE MKCALENDAR LINK UNLINK"

// Traits implements tool.Tool. wrk looks every 100 ms whether its time is over, and takes a pause for part of it.
func (Tool) Traits() tool.Traits {
	return tool.Traits{Install: "apt-get install wrk", EqualThreads: true, ConnectsOnce: true, Freezable: true, Mixes: true, Methods: methods}
}

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	return tool.Needs{Gap: tool.LeastGap, MemoryBytes: int64(share.Connections) * tool.ConnectionBytes}
}
