package ab

import (
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// maxHeadBytes bounds method, path and headers: ab's buffer has 8,192 bytes, partly for its own headers.
	maxHeadBytes = 7680
	// headerRest is the size of a header on the wire without name and value.
	headerRest = len(": \r\n")
)

// Name implements tool.Tool.
func (Tool) Name() record.Tool { return program }

// Install implements tool.Tool.
func (Tool) Install() string { return "apt-get install apache2-utils" }

// Check implements tool.Tool.
func (Tool) Check(l tool.Load) []tool.Refusal {
	return tool.Refusals(
		tool.RefuseRates(l), tool.RefuseScript(l), tool.RefuseMix(l), tool.RefuseHTTP2(l, "and ab speaks HTTP/1.0 alone"), tool.RefuseStreams(l), tool.RefuseDuet(l),
		checkThreads(l), checkPercentiles(l), checkHandshakes(l), checkHead(l),
	)
}

func checkThreads(l tool.Load) *tool.Refusal {
	if l.Generators.CPUs == 1 {
		return nil
	}
	return tool.Refuse("%s.generators.cpus is %d, but ab has one thread", l.Field, l.Generators.CPUs).Or("make it 1, and raise %s.generators.pods instead", l.Field)
}

// checkPercentiles refuses fractional percentiles, which ab does not print.
func checkPercentiles(l tool.Load) *tool.Refusal {
	for _, p := range l.Percentiles {
		if strings.Contains(p.Value, ".") {
			return tool.Refuse("%s is %s, and ab, the tool of %s, reports whole percentiles only", p.Field, p.Value, l.Field).Or("%s", p.Fix)
		}
	}
	return nil
}

// checkHandshakes refuses a TLS handshake per request. With TLS 1.3, ab sends a connection's first request only after the server's kernel has
// acknowledged the handshake: 40 ms later if the server sends nothing then.
func checkHandshakes(l tool.Load) *tool.Refusal {
	if l.Connection != v1alpha1.PerRequest || l.Encrypted == "" {
		return nil
	}
	return tool.Refuse("%s.connection is PerRequest, and %s speaks TLS: after each handshake of TLS 1.3 ab waits up to 40 ms, with some servers and not with others, before it sends its request", l.Field, l.Encrypted).
		Or("make it KeepAlive")
}

func checkHead(l tool.Load) *tool.Refusal {
	for _, r := range l.Asked() {
		size := len(r.Method) + len(r.Path)
		for _, h := range r.Headers {
			size += len(h.Name) + len(h.Value) + headerRest
		}
		if size > maxHeadBytes {
			return tool.Refuse("%s has %d bytes of method, path and headers, and ab has room for %d", r.Field, size, maxHeadBytes).Or("shorten them")
		}
	}
	return nil
}

// Caveats implements tool.Tool: ab uses HTTP/1.0.
func (Tool) Caveats(record.Cell, bool) tool.Caveats { return tool.Caveats{OtherHeads: true} }

// GapPerSecond is ab's extra time per second measured: it sorts up to 250,000 records per second four times, at about 1.2 µs each in all.
const GapPerSecond = 300 * time.Millisecond

// Needs implements tool.Tool.
func (Tool) Needs(share record.Cell) tool.Needs {
	return tool.Needs{
		Gap:         tool.LeastGap + time.Duration(share.DurationSeconds)*GapPerSecond,
		MemoryBytes: int64(share.Connections)*tool.ConnectionBytes + Requests(share.DurationSeconds)*BytesPerRequest,
	}
}
