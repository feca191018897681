package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

type benchmark struct {
	name string
	// implementation and as name it for comparison with another implementation's same case.
	implementation, as string
	// sizes are listed message sizes other than the smallest. Any from 7 bytes to 64 KiB is allowed.
	sizes []int
	do    func(r *run) (operations uint64, err error)
}

var sweep = []int{64, 512, 4096, 16384, 65536}

// Go implementations: our sockets, and the net package's.
const (
	own     = "go"
	netpoll = "netpoll"
)

func benchmarks() []benchmark {
	const packet, stream = socket.SeqPacket, socket.Stream
	return []benchmark{
		{"go-baseline", own, "baseline", sweep, transfer{kind: packet}.do},
		{"go-goroutine", own, "goroutine", nil, transfer{kind: packet, perRecv: true}.do},
		{"go-pool", own, "pool", nil, transfer{kind: packet, pooled: true}.do},
		{"go-channel-0", own, "channel/capacity=0", nil, channel{capacity: 0}.do},
		{"go-channel-1", own, "channel/capacity=1", nil, channel{capacity: 1}.do},
		{"go-channel-4", own, "channel/capacity=4", nil, channel{capacity: 4}.do},
		{"go-select", own, "select", nil, channel{capacity: 4, limit: time.Minute}.do},
		{"go-empty-goroutine", own, "empty-goroutine", nil, emptyGoroutine},
		{"go-stream", own, "stream", sweep, transfer{kind: stream}.do},
		{"go-fds", own, "fds", nil, transfer{kind: packet, fds: true}.do},
		{"go-cred", own, "cred", nil, transfer{kind: packet, cred: true}.do},
		{"go-roundtrip", own, "roundtrip", nil, roundTrip{}.do},
		{"go-processes", own, "processes", sweep, process{}.do},
		{"go-roundtrip-processes", own, "roundtrip-processes", nil, process{echo: true}.do},

		{"go-netpoll-baseline", netpoll, "baseline", sweep, transfer{kind: packet, polled: true}.do},
		{"go-netpoll-goroutine", netpoll, "goroutine", nil, transfer{kind: packet, polled: true, perRecv: true}.do},
		{"go-netpoll-pool", netpoll, "pool", nil, transfer{kind: packet, polled: true, pooled: true}.do},
		{"go-netpoll-channel-0", netpoll, "channel/capacity=0", nil, channel{polled: true, capacity: 0}.do},
		{"go-netpoll-channel-1", netpoll, "channel/capacity=1", nil, channel{polled: true, capacity: 1}.do},
		{"go-netpoll-channel-4", netpoll, "channel/capacity=4", nil, channel{polled: true, capacity: 4}.do},
		{"go-netpoll-select", netpoll, "select", nil, channel{polled: true, capacity: 4, limit: time.Minute}.do},
		{"go-netpoll-empty-goroutine", netpoll, "empty-goroutine", nil, emptyGoroutine},
		{"go-netpoll-stream", netpoll, "stream", sweep, transfer{kind: stream, polled: true}.do},
		{"go-netpoll-fds", netpoll, "fds", nil, transfer{kind: packet, polled: true, fds: true}.do},
		{"go-netpoll-roundtrip", netpoll, "roundtrip", nil, roundTrip{polled: true}.do},
	}
}

func names() []string {
	var all []string
	for _, b := range benchmarks() {
		all = append(all, b.name)
		for _, size := range b.sizes {
			all = append(all, fmt.Sprintf("%s-%d", b.name, size))
		}
	}
	return all
}

func find(name string) (benchmark, int, error) {
	for _, b := range benchmarks() {
		if b.name == name {
			return b, smallest, nil
		}
		text, ok := strings.CutPrefix(name, b.name+"-")
		size, err := strconv.Atoi(text)
		if ok && err == nil && strconv.Itoa(size) == text && size >= smallest && size <= largest {
			return b, size, nil
		}
	}
	return benchmark{}, 0, fmt.Errorf("%w: there is no case %q", errUsage, name)
}
