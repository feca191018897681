package k6

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// MaxRatePerCPU is about what k6 sends from one virtual CPU with keep-alive and no imposed rate, next to a server on another CPU: 25,000
	// on a Xeon; 26,200 in HTTP/2 on an AMD EPYC (Zen 5). With an imposed rate it sends 14,500.
	MaxRatePerCPU = 25_000
	// pause: with an epoll server on another CPU, p99 from the intended starts was 10 to 45 ms at 1,000 arrivals per second.
	pause = 50 * time.Millisecond
)

// Name implements tool.Tool.
func (Tool) Name() record.Tool { return program }

// Install implements tool.Tool.
func (Tool) Install() string { return "see https://grafana.com/docs/k6/latest/set-up/install-k6/" }

// Check implements tool.Tool. k6 distributes virtual users over threads itself.
func (Tool) Check(l tool.Load) []tool.Refusal {
	return tool.Refusals(tool.RefuseRatesAbove(l, MaxRatePerCPU), tool.RefuseStreams(l), tool.RefuseDuet(l))
}

// Caveats implements tool.Tool: k6's received bytes include TLS.
func (Tool) Caveats(_ record.Cell, tls bool) tool.Caveats {
	return tool.Caveats{Pause: pause, OtherBytes: tls, ReadsBodies: true}
}

const (
	// gap is k6's time for compiling its script and sorting its samples; gapPerUser is for creating a JavaScript engine.
	gap        = 1500 * time.Millisecond
	gapPerUser = time.Millisecond
	// memory is k6's without virtual users, at 8 bytes per sample of several metrics; memoryPerUser is for a JavaScript engine.
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
