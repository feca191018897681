package main

import (
	"fmt"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
)

// noDearer and noSlower are parity: nobody can be shown to be exactly as good, so the bound has 5 %.
var noDearer, noSlower = figures.AtMost(1).Bound(0.05), figures.AtLeast(1).Bound(0.05)

// atMost and atLeast ask the whole interval to keep a limit: a mean that does may be luck.
func atMost(limit float64) figures.Aim  { return figures.AtMost(limit).Bound(0) }
func atLeast(limit float64) figures.Aim { return figures.AtLeast(limit).Bound(0) }

// under is an implementation under a load at a level.
func under(run, implementation, load string, connections int32, of quantity) source {
	return source{run: run, implementation: implementation, at: record.Point{Load: load, Connections: connections}, of: of}
}

// prints is a case that an implementation prints.
func prints(run, implementation, test, metric string) source {
	return source{run: run, implementation: implementation, test: test, metric: metric}
}

// levels are ratios of a value of two implementations at several levels, with an aim each.
func levels(name, run, over, than, load string, of quantity, connections []int32, aim ...figures.Aim) []comparison {
	var all []comparison
	for i, n := range connections {
		own := fmt.Sprintf("%s-%d", name, n)
		all = append(all, ratio(own, under(run, over, load, n, of), under(run, than, load, n, of), aim[min(i, len(aim)-1)]))
	}
	return all
}

var table = func() (all []comparison) {
	for _, of := range [][]comparison{zco(), zcoSystemCalls(), uvhttp(), coro(), ipc(), lzlog()} {
		all = append(all, of...)
	}
	return all
}()

func zco() []comparison {
	four := []int32{10, 100, 500, 1000}
	all := levels("zco-cpu-to-gohttp", "zco-gohttp", "zco", "gohttp", "keepalive", cpuPerRequest, four, atMost(0.50))
	all = append(all, levels("zco-cpu-to-epoll", "zco-epoll", "zco", "epoll", "keepalive", cpuPerRequest, four, atMost(1.15))...)
	all = append(all,
		value("zco-jain-1000", under("zco-fair", "zco", "keepalive", 1000, fairness), "index", theLowest, atLeast(0.95)),
		value("zco-unanswered-1000", under("zco-fair", "zco", "keepalive", 1000, unanswered), "connections", theHighest, atMost(0)),
	)
	all = append(all, levels("zco-threads-cpu-to-one", "zco-threads", "zco-2", "zco", "keepalive", cpuPerRequest, []int32{100, 1000}, atMost(1.1))...)
	all = append(all, levels("zco-close-cpu-to-gohttp", "zco-close", "zco", "gohttp", "per-request", cpuPerRequest, four, atMost(0.85))...)
	all = append(all, levels("zco-close-throughput-to-gohttp", "zco-close", "zco", "gohttp", "per-request", throughput, four, atLeast(0.95))...)
	// A switch is two turns through the scheduler; a swap is what of it are the two stacks.
	return append(all,
		value("zco-switch", prints("zco-switch", "zco", "switch", wallTime), "ns", theMean, atMost(10)),
		value("zco-swap", prints("zco-switch", "zco", "swap", wallTime), "ns", theMean, figures.Aim{}),
	)
}

func uvhttp() []comparison {
	five := []int32{10, 50, 100, 200, 500}
	all := levels("uvhttp-cpu-to-epoll", "uvhttp-epoll", "uvhttp", "epoll", "keepalive", cpuPerRequest, five, atMost(1.15))
	all = append(all, levels("uvhttp-cpu-to-nginx", "uvhttp-nginx", "uvhttp", "nginx", "small", cpuPerRequest, five, noDearer)...)
	all = append(all, spread("uvhttp-p99-spread-to-nginx",
		under("uvhttp-latency", "uvhttp", "small", 10, p99), under("uvhttp-latency", "uvhttp", "small", 500, p99),
		under("uvhttp-latency", "nginx", "small", 10, p99), under("uvhttp-latency", "nginx", "small", 500, p99), noDearer))
	for _, f := range []struct {
		size        string
		connections int32
	}{{"10m", 10}, {"100k", 50}} {
		of := func(implementation string, q quantity) source {
			return under("uvhttp-nginx", implementation, "file-"+f.size, f.connections, q)
		}
		// The files are the same, so that bytes are requests.
		all = append(all,
			ratio("uvhttp-"+f.size+"-bytes-per-cpu-to-nginx", of("nginx", cpuPerRequest), of("uvhttp", cpuPerRequest), noSlower),
			ratio("uvhttp-"+f.size+"-throughput-to-nginx", of("uvhttp", throughput), of("nginx", throughput), noSlower),
		)
	}
	return append(all, value("uvhttp-memory-10m-to-1m-requests", under("uvhttp-memory", "uvhttp", "small", 100, memoryGrowth), "ratio", theHighest, atMost(1.02)))
}

func coro() []comparison {
	of := func(implementation, test string) source { return prints("coro", implementation, test, wallTime) }
	// The other's time by the ring's: how many reads by the ring come on one by the other.
	reads := func(than, test string, aim figures.Aim) comparison {
		in := func(implementation string) source { return prints("coro-reads", implementation, test, wallTime) }
		return ratio("coro-"+test+"-uring-to-"+than, in(than), in("uring"), aim)
	}
	return []comparison{
		value("coro-switch", of("stackful", "switch"), "ns", theMean, atMost(10)),
		ratio("coro-switch-to-boost", of("stackful", "switch"), of("boost", "switch"), noDearer),
		ratio("coro-depth-2048-prealloc-to-dynamic", of("stackless-prealloc", "depth"), of("stackless", "depth"), atMost(0.5)),
		reads("pool", "read", atLeast(1)),
		reads("pool", "direct-read", atLeast(1)),
		reads("worker", "read", figures.Aim{}),
		reads("worker", "direct-read", figures.Aim{}),
	}
}

func ipc() []comparison {
	return []comparison{
		ratio("ipc-wall-go-to-c", prints("ipc", "go", "baseline", wallTime), prints("ipc", "c", "baseline", wallTime), atMost(1.20)),
		ratio("ipc-cpu-go-to-c", prints("ipc", "go", "baseline", cpuTime), prints("ipc", "c", "baseline", cpuTime), figures.Aim{}),
		ratio("ipc-wall-go-netpoll-to-c", prints("ipc", "go-netpoll", "baseline", wallTime), prints("ipc", "c", "baseline", wallTime), figures.Aim{}),
	}
}

func lzlog() []comparison {
	of := func(implementation, metric string) source { return prints("lzlog", implementation, "write", metric) }
	return []comparison{
		ratio("lzlog-wall-to-memcpy", of("lzlog", wallTime), of("memcpy", wallTime), atMost(2.5)),
		ratio("lzlog-wall-to-spdlog", of("lzlog", wallTime), of("spdlog", wallTime), atMost(0.20)),
		ratio("lzlog-cpu-to-spdlog", of("lzlog", cpuTime), of("spdlog", cpuTime), atMost(0.35)),
		ratio("lzlog-equal-wall-to-spdlog", prints("lzlog", "lzlog", "write-equal", wallTime), of("spdlog", wallTime), atMost(0.20)),
		ratio("lzlog-equal-cpu-to-spdlog", prints("lzlog", "lzlog", "write-equal", cpuTime), of("spdlog", cpuTime), atMost(0.35)),
		value("lzlog-aes", prints("lzlog", "lzlog", "write-encrypted", wallTime), "ns", theMean, atMost(200)),
		ratio("lzlog-10-wall-to-fetchadd",
			prints("lzlog-threads", "lzlog", "write", wallTime), prints("lzlog-threads", "fetchadd", "write", wallTime), atMost(1.3)),
	}
}
