package main

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/hack/bench/figures"
)

var (
	atMost, atLeast = figures.AtMost, figures.AtLeast
	// noDearer and noSlower are parity: nobody can be shown to be exactly as good, so the bound has 5 %.
	noDearer, noSlower = atMost(1).Bound(0.05), atLeast(1).Bound(0.05)
)

// table are the comparisons. A ratio is that of the first cell's quantity by the second's.
var table = []comparison{
	// zco: keep-alive.
	ratio("zco-cpu-to-gohttp-10", wrk("zco", 10), wrk("gohttp", 10), cpuNanos, atMost(0.55)),
	ratio("zco-cpu-to-gohttp-100", wrk("zco", 100), wrk("gohttp", 100), cpuNanos, atMost(0.50)),
	ratio("zco-cpu-to-gohttp-500", wrk("zco", 500), wrk("gohttp", 500), cpuNanos, atMost(0.50)),
	ratio("zco-cpu-to-gohttp-1000", wrk("zco", 1000), wrk("gohttp", 1000), cpuNanos, atMost(0.50)),
	ratio("zco-cpu-to-epoll-10", wrk("zco", 10), wrk("epoll", 10), cpuNanos, atMost(1.35)),
	ratio("zco-cpu-to-epoll-100", wrk("zco", 100), wrk("epoll", 100), cpuNanos, atMost(1.35)),
	ratio("zco-cpu-to-epoll-500", wrk("zco", 500), wrk("epoll", 500), cpuNanos, atMost(1.35)),
	ratio("zco-cpu-to-epoll-1000", wrk("zco", 1000), wrk("epoll", 1000), cpuNanos, atMost(1.35)),
	value("zco-jain-1000", fair("zco", 1000), jain, "index", theLowest, atLeast(0.95)),
	value("zco-unanswered-1000", fair("zco", 1000), unanswered, "connections", theHighest, atMost(0)),
	value("zco-system-calls-10", calls("zco", 10), callsPerAnswer, "a request", theMean, atMost(3)),
	value("zco-system-calls-100", calls("zco", 100), callsPerAnswer, "a request", theMean, atMost(3)),
	// zco: a connection for each request.
	ratio("zco-close-cpu-to-gohttp-10", ab("zco", 10), ab("gohttp", 10), cpuNanos, atMost(0.85)),
	ratio("zco-close-cpu-to-gohttp-100", ab("zco", 100), ab("gohttp", 100), cpuNanos, atMost(0.85)),
	ratio("zco-close-cpu-to-gohttp-500", ab("zco", 500), ab("gohttp", 500), cpuNanos, atMost(0.85)),
	ratio("zco-close-cpu-to-gohttp-1000", ab("zco", 1000), ab("gohttp", 1000), cpuNanos, atMost(0.85)),
	ratio("zco-close-throughput-to-gohttp-10", ab("zco", 10), ab("gohttp", 10), throughput, atLeast(0.95).Bound(0)),
	ratio("zco-close-throughput-to-gohttp-100", ab("zco", 100), ab("gohttp", 100), throughput, atLeast(0.95).Bound(0)),
	ratio("zco-close-throughput-to-gohttp-500", ab("zco", 500), ab("gohttp", 500), throughput, atLeast(0.95).Bound(0)),
	ratio("zco-close-throughput-to-gohttp-1000", ab("zco", 1000), ab("gohttp", 1000), throughput, atLeast(0.95).Bound(0)),
	// A switch is two turns through the scheduler; a swap is what of it are the two stacks.
	value("zco-switch", single("zco-bench", "switch"), wallNanos, "ns", theMean, atMost(10)),
	value("zco-swap", single("zco-bench", "swap"), wallNanos, "ns", theMean, figures.Aim{}),

	// uvhttp: the fixed answer.
	ratio("uvhttp-cpu-to-epoll-10", wrk("uvhttp", 10), wrk("epoll", 10), cpuNanos, atMost(1.25)),
	ratio("uvhttp-cpu-to-epoll-50", wrk("uvhttp", 50), wrk("epoll", 50), cpuNanos, atMost(1.25)),
	ratio("uvhttp-cpu-to-epoll-100", wrk("uvhttp", 100), wrk("epoll", 100), cpuNanos, atMost(1.25)),
	ratio("uvhttp-cpu-to-epoll-200", wrk("uvhttp", 200), wrk("epoll", 200), cpuNanos, atMost(1.25)),
	ratio("uvhttp-cpu-to-epoll-500", wrk("uvhttp", 500), wrk("epoll", 500), cpuNanos, atMost(1.25)),
	ratio("uvhttp-cpu-to-nginx-10", wrk("uvhttp", 10), wrk("nginx", 10), cpuNanos, noDearer),
	ratio("uvhttp-cpu-to-nginx-50", wrk("uvhttp", 50), wrk("nginx", 50), cpuNanos, noDearer),
	ratio("uvhttp-cpu-to-nginx-100", wrk("uvhttp", 100), wrk("nginx", 100), cpuNanos, noDearer),
	ratio("uvhttp-cpu-to-nginx-200", wrk("uvhttp", 200), wrk("nginx", 200), cpuNanos, noDearer),
	ratio("uvhttp-cpu-to-nginx-500", wrk("uvhttp", 500), wrk("nginx", 500), cpuNanos, noDearer),
	spread("uvhttp-p99-spread-to-nginx", tail("uvhttp", 10), tail("uvhttp", 500), tail("nginx", 10), tail("nginx", 500), p99, atMost(1).Reach()),
	// uvhttp: files, and memory.
	ratio("uvhttp-10m-bytes-per-cpu-to-nginx", fetch("uvhttp", big, 10), fetch("nginx", big, 10), bytesPerCPU, noSlower),
	ratio("uvhttp-10m-throughput-to-nginx", fetch("uvhttp", big, 10), fetch("nginx", big, 10), byteRate, noSlower),
	ratio("uvhttp-100k-bytes-per-cpu-to-nginx", fetch("uvhttp", medium, 50), fetch("nginx", medium, 50), bytesPerCPU, noSlower),
	ratio("uvhttp-100k-throughput-to-nginx", fetch("uvhttp", medium, 50), fetch("nginx", medium, 50), byteRate, noSlower),
	value("uvhttp-memory-10m-to-1m-requests", grown("uvhttp", 100), memoryGrowth, "ratio", theHighest, atMost(1.02)),

	value("coro-switch", single("coro-bench", "switch-stackful"), wallNanos, "ns", theMean, atMost(10)),
	ratio("coro-switch-to-boost", single("coro-bench", "switch-stackful"), single("coro-bench", "switch-boost"), wallNanos, noDearer),
	ratio("coro-depth-2048-prealloc-to-dynamic", single("coro-bench", "depth-2048-stackless-prealloc"), single("coro-bench", "depth-2048-stackless"), wallNanos, atMost(0.5)),

	ratio("ipc-wall-go-to-c", threads("ipc-bench", "go-baseline"), threads(ipcC, "c-threads"), wallNanos, atMost(1.25)),
	ratio("ipc-cpu-go-to-c", threads("ipc-bench", "go-baseline"), threads(ipcC, "c-threads"), cpuNanos, figures.Aim{}),

	ratio("lzlog-wall-to-memcpy", single("lzlog-bench", "lzlog-1"), single("lzlog-bench", "memcpy"), wallNanos, atMost(2.5)),
	ratio("lzlog-wall-to-spdlog", single("lzlog-bench", "lzlog-1"), single("lzlog-bench", "spdlog-1"), wallNanos, atMost(0.20)),
	ratio("lzlog-cpu-to-spdlog", single("lzlog-bench", "lzlog-1"), single("lzlog-bench", "spdlog-1"), cpuNanos, atMost(0.35)),
	ratio("lzlog-10-wall-to-fetchadd", threads("lzlog-bench", "lzlog-10"), threads("lzlog-bench", "fetchadd-memcpy-10"), wallNanos, atMost(1.3)),
	value("lzlog-aes", single("lzlog-bench", "lzlog-1-aes"), wallNanos, "ns", theMean, atMost(150)),
}

const (
	// big and medium are files that uvhttp and nginx have.
	big, medium = "/static/10m.bin", "/static/100k.bin"
	// ipcC has the cases in C.
	ipcC = "ipc-c-bench"
)

// choose finds the comparisons whose names begin with one of some prefixes, which have commas between them.
func choose(all []comparison, only string) ([]comparison, error) {
	var chosen []comparison
	seen := map[string]bool{}
	for prefix := range strings.SplitSeq(only, ",") {
		found := false
		for _, c := range all {
			if strings.HasPrefix(c.name, prefix) {
				found, seen[c.name] = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("parsing flags: -only %s: no figure is named so; the groups are %s", prefix, strings.Join(groups(all), ", "))
		}
	}
	for _, c := range all {
		if seen[c.name] {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// groups are the names of the groups, in the order of the table.
func groups(list []comparison) []string {
	var names []string
	for _, c := range list {
		if !slices.Contains(names, c.group()) {
			names = append(names, c.group())
		}
	}
	return names
}
