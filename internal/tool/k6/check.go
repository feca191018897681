package k6

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// MaxRatePerCPU is about what k6 sends from one CPU of a virtual machine, with keep-alive and without a rate to sustain, beside a server on a CPU of its
	// own: 25,000 on a Xeon, and 26,200 in HTTP/2 on an AMD EPYC of Zen 5. With a rate it sends less: 14,500.
	MaxRatePerCPU = 25_000
	// pause: beside an epoll server, each on a CPU of its own, p99 from the intended starts was 10 to 45 ms at 1,000 arrivals a second.
	pause = 50 * time.Millisecond
)

// Name implements tool.Tool.
func (Tool) Name() record.Tool { return program }

// Install implements tool.Tool.
func (Tool) Install() string { return "see https://grafana.com/docs/k6/latest/set-up/install-k6/" }

// Check implements tool.Tool. k6 shares its virtual users among its threads as it likes.
func (Tool) Check(l tool.Load) []tool.Refusal {
	return tool.Refusals(tool.RefuseRatesAbove(l, MaxRatePerCPU), tool.RefuseStreams(l), tool.RefuseDuet(l))
}

// Caveats implements tool.Tool: k6 counts the bytes of TLS with those that it reads.
func (Tool) Caveats(_ record.Cell, tls bool) tool.Caveats {
	return tool.Caveats{Pause: pause, OtherBytes: tls}
}

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
