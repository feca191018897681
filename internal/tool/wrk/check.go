package wrk

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Methods are those known to wrk's request parser; with others it does not start.
const Methods = "GET POST PUT PATCH DELETE OPTIONS PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK SEARCH REPORT MERGE NOTIFY PURGE BIND REBIND " +
	"UNBIND ACL MKACTIVITY CHECKOUT M-SEARCH SUBSCRIBE UNSUBSCRIBE MKCALENDAR LINK UNLINK"

// Name implements tool.Tool.
func (Tool) Name() record.Tool { return program }

// Install implements tool.Tool.
func (Tool) Install() string { return "apt-get install wrk" }

// Check implements tool.Tool. wrk can be paused: it checks its time every 100 ms, and a pause counts as time.
func (Tool) Check(l tool.Load) []tool.Refusal {
	return tool.Refusals(tool.RefuseRates(l), tool.RefuseHTTP2(l, "and wrk speaks HTTP/1.1 alone"), tool.RefuseStreams(l), checkMethods(l), checkThreads(l))
}

func checkMethods(l tool.Load) *tool.Refusal {
	for _, r := range l.Asked() {
		if r.Method != "" && !slices.Contains(strings.Fields(Methods), r.Method) {
			return tool.Refuse("%s.method is %s, which wrk cannot send", r.Field, r.Method).Or("choose another method")
		}
	}
	return nil
}

// checkThreads refuses connections that wrk would drop: each thread has the same number.
func checkThreads(l tool.Load) *tool.Refusal {
	pods, threads := l.Generators.Pods, l.Generators.CPUs
	for i, level := range l.Levels {
		if level.Connections%pods == 0 && level.Connections%(pods*threads) != 0 {
			return tool.Refuse("%s.levels[%d].connections is %d, which %d generator pods of %d threads (%s.generators) cannot share equally", l.Field, i, level.Connections, pods, threads, l.Field).
				Or("make it a multiple of %d", pods*threads)
		}
	}
	return nil
}

// Caveats implements tool.Tool.
func (Tool) Caveats(record.Cell, bool) tool.Caveats {
	return tool.Caveats{StaysRefused: true, Resumes: true}
}

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	return tool.Needs{Gap: tool.LeastGap, MemoryBytes: int64(share.Connections) * tool.ConnectionBytes}
}
