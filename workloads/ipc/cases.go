package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// benchmark is a case: how messages go from one end to the other.
type benchmark struct {
	name string
	// sizes are what its messages are listed with beside the smallest. Any size from 7 bytes to 64 KiB can be asked for.
	sizes []int
	do    func(r *run) (operations uint64, err error)
}

var sweep = []int{64, 512, 4096, 16384, 65536}

func benchmarks() []benchmark {
	const packet, stream = socket.SeqPacket, socket.Stream
	return []benchmark{
		{name: "go-baseline", sizes: sweep, do: transfer{kind: packet}.do},
		{name: "go-netpoll-baseline", sizes: sweep, do: transfer{kind: packet, polled: true}.do},
		{name: "go-goroutine", do: transfer{kind: packet, perRecv: true}.do},
		{name: "go-pool", do: transfer{kind: packet, pooled: true}.do},
		{name: "go-channel-0", do: channel{capacity: 0}.do},
		{name: "go-channel-1", do: channel{capacity: 1}.do},
		{name: "go-channel-4", do: channel{capacity: 4}.do},
		{name: "go-select", do: channel{capacity: 4, limit: time.Minute}.do},
		{name: "go-empty-goroutine", do: emptyGoroutine},
		{name: "go-stream", sizes: sweep, do: transfer{kind: stream}.do},
		{name: "go-fds", do: transfer{kind: packet, fds: true}.do},
		{name: "go-cred", do: transfer{kind: packet, cred: true}.do},
		{name: "go-roundtrip", do: roundTrip},
		{name: "go-processes", sizes: sweep, do: process{}.do},
		{name: "go-roundtrip-processes", do: process{echo: true}.do},
	}
}

// names lists all cases.
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

// find finds a case by its name, which may end with a size.
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
