package main

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/hack/figures"
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

// left are the connections that an implementation leaves unanswered. More than a few make a cell void, and count all the same.
func left(run, implementation, load string, connections int32) source {
	s := under(run, implementation, load, connections, unanswered)
	s.evenFailed = true
	return s
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
	for _, of := range [][]comparison{
		floors(), zco(), countedRows(), uvhttp(), ablation(), coro(), coroDepth(), ipc(), ipcCases(), ipcLadder(), lzlog(), lzlogParts(), lzlogThreads(),
	} {
		all = append(all, of...)
	}
	return all
}()

// floors says which of two is the practical limit; neither is to be reached by anybody. zco is held against both, and so against the cheaper one.
func floors() []comparison {
	return levels("uring-cpu-to-epoll", "uring-epoll", "uring", "epoll", "keepalive", cpuPerRequest, []int32{10, 100, 500, 1000}, figures.Aim{})
}

func zco() []comparison {
	four := []int32{10, 100, 500, 1000}
	// Below the floor's share nobody can come.
	all := levels("epoll-cpu-to-gohttp", "epoll-gohttp", "epoll", "gohttp", "keepalive", cpuPerRequest, four[:2], figures.Aim{})
	all = append(all, levels("zco-cpu-to-gohttp", "zco-gohttp-few", "zco", "gohttp", "keepalive", cpuPerRequest, four[:1], atMost(0.50))...)
	all = append(all, levels("zco-cpu-to-gohttp", "zco-gohttp", "zco", "gohttp", "keepalive", cpuPerRequest, four[1:], atMost(0.50))...)
	all = append(all, levels("zco-cpu-to-epoll", "zco-epoll", "zco", "epoll", "keepalive", cpuPerRequest, four, atMost(1.15))...)
	all = append(all, levels("zco-cpu-to-uring", "zco-uring", "zco", "uring", "keepalive", cpuPerRequest, []int32{100, 1000}, atMost(1.15))...)
	all = append(all, levels("zco-io-uring-cpu-to-zco", "zco-backends", "zco-io-uring", "zco", "keepalive", cpuPerRequest, []int32{100, 1000}, figures.Aim{})...)
	all = append(all, levels("zco-cpu-to-gnet", "zco-gnet", "zco", "gnet", "keepalive", cpuPerRequest, []int32{100}, figures.Aim{})...)
	all = append(all,
		value("zco-jain-1000", under("zco-fair", "zco", "keepalive", 1000, fairness), "index", theLowest, atLeast(0.95)),
		value("zco-unanswered-1000", left("zco-fair", "zco", "keepalive", 1000), "connections", theHighest, atMost(0)),
	)
	all = append(all, levels("zco-threads-cpu-to-one", "zco-threads", "zco-2", "zco", "keepalive", cpuPerRequest, []int32{100, 1000}, atMost(1.1))...)
	for _, of := range []struct{ name, implementation string }{{"one", "zco"}, {"two", "zco-2"}} {
		source := under("zco-threads", of.implementation, "keepalive", 100, contextSwitches)
		all = append(all, value("zco-threads-context-switches-of-"+of.name+"-100", source, "a request", theMean, figures.Aim{}))
	}
	all = append(all, levels("zco-workers-cpu-to-zco", "zco-workers", "zco-workers", "zco", "keepalive", cpuPerRequest, []int32{10, 90}, figures.Aim{})...)
	all = append(all, value("zco-workers-unanswered-1000", left("zco-workers", "zco-workers", "keepalive", 1000), "connections", theLowest, figures.Aim{}))
	all = append(all, levels("zco-close-cpu-to-gohttp", "zco-close", "zco", "gohttp", "per-request", cpuPerRequest, four, atMost(0.85))...)
	all = append(all, levels("zco-close-throughput-to-gohttp", "zco-close", "zco", "gohttp", "per-request", throughput, four, atLeast(0.95))...)
	// What those that wait gain by each of two things, and what both cost those that compute.
	mixed := func(name, test, metric string, aim figures.Aim) comparison {
		return ratio("zco-mixed-"+name+"-to-plain", prints("zco-mixed", "zco", test, metric), prints("zco-mixed", "zco", "mixed-plain", metric), aim)
	}
	all = append(all,
		mixed("p99-wait", "mixed", p99Wait, atMost(0.5)),
		mixed("p99-wait-sinking", "mixed-sinking", p99Wait, figures.Aim{}),
		mixed("p99-wait-fitting", "mixed-fitting", p99Wait, figures.Aim{}),
		mixed("step", "mixed", wallTime, figures.Aim{}),
	)
	// A switch is two turns through the scheduler; a swap is what of it are the two stacks.
	return append(all,
		value("zco-switch", prints("zco-switch", "zco", "switch", wallTime), "ns", theMean, atMost(10)),
		value("zco-swap", prints("zco-switch", "zco", "swap", wallTime), "ns", theMean, figures.Aim{}),
		value("zco-turn", prints("zco-switch", "zco", "turn", wallTime), "ns", theMean, figures.Aim{}),
		value("zco-turn-stealable", prints("zco-switch", "zco", "turn-stealable", wallTime), "ns", theMean, figures.Aim{}),
		ratio("zco-turn-stealable-to-own", prints("zco-switch", "zco", "turn-stealable", wallTime), prints("zco-switch", "zco", "turn", wallTime), figures.Aim{}),
	)
}

func uvhttp() []comparison {
	five := []int32{10, 50, 100, 200, 500}
	all := levels("uvhttp-cpu-to-epoll", "uvhttp-epoll", "uvhttp", "epoll", "keepalive", cpuPerRequest, five, atMost(1.15))
	all = append(all, levels("uvhttp-cpu-to-nginx", "uvhttp-nginx", "uvhttp", "nginx", "small", cpuPerRequest, five, noDearer)...)
	all = append(all, levels("uvhttp-cpu-to-streams", "uvhttp-streams", "uvhttp", "streams", "keepalive", cpuPerRequest, []int32{100}, figures.Aim{})...)
	three := []int32{10, 100, 500}
	all = append(all, levels("uvhttp-cpu-to-h2o", "uvhttp-h2o", "uvhttp", "h2o", "small-file", cpuPerRequest, three, figures.Aim{})...)
	all = append(all, levels("nginx-debug-cpu-to-plain", "nginx-debug", "debug", "plain", "small", cpuPerRequest, three, figures.Aim{})...)
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

// ablation is what flags of the compiler cost a server that computes something for each request.
func ablation() (all []comparison) {
	of := func(build string) source { return under("ablation", build, "keepalive", 10, cpuPerRequest) }
	for _, build := range []string{"o0", "o1", "o3", "coverage", "address", "undefined"} {
		all = append(all, ratio("ablation-cpu-"+build+"-to-o2", of(build), of("o2"), figures.Aim{}))
	}
	return all
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
		value("coro-switch-without-control-words", prints("coro-words", "without-words", "switch", wallTime), "ns", theMean, figures.Aim{}),
		ratio("coro-switch-without-control-words-to-boost",
			prints("coro-words", "without-words", "switch", wallTime), prints("coro-words", "boost", "switch", wallTime), figures.Aim{}),
		ratio("coro-switch-flags-differ-to-boost", of("stackful", "switch-flags-differ"), of("boost", "switch-flags-differ"), figures.Aim{}),
		value("coro-switch-flags-differ", of("stackful", "switch-flags-differ"), "ns", theMean, figures.Aim{}),
		value("coro-switch-of-boost", of("boost", "switch"), "ns", theMean, figures.Aim{}),
		value("coro-switch-of-boost-flags-differ", of("boost", "switch-flags-differ"), "ns", theMean, figures.Aim{}),
		value("coro-wake", of("own-queue", "wake"), "ns", theMean, figures.Aim{}),
		ratio("coro-wake-stealable-to-own", of("stealable-queue", "wake"), of("own-queue", "wake"), figures.Aim{}),
		ratio("coro-depth-2048-prealloc-to-dynamic", of("stackless-prealloc", "depth"), of("stackless", "depth"), atMost(0.5)),
		reads("pool", "read", atLeast(1)),
		reads("pool", "direct-read", atLeast(1)),
		reads("worker", "read", figures.Aim{}),
		reads("worker", "direct-read", figures.Aim{}),
		reads("aio", "read", figures.Aim{}),
		reads("aio", "direct-read", figures.Aim{}),
		ratio("coro-uneven-where-idle-to-in-turn",
			prints("coro-reads", "where-idle", "uneven", wallTime), prints("coro-reads", "in-turn", "uneven", wallTime), figures.Aim{}),
	}
}

// coroDepth is where one kind of coroutine overtakes the other: between the depth at which the ratio is above 1 and that at which it is below.
func coroDepth() (all []comparison) {
	for _, depth := range []int{1, 2, 8, 64} {
		of := func(kind string) source { return prints("coro-depth", kind, fmt.Sprintf("depth-%d", depth), wallTime) }
		all = append(all, ratio(fmt.Sprintf("coro-depth-%d-stackful-to-stackless", depth), of("stackful"), of("stackless"), figures.Aim{}))
	}
	return all
}

func ipc() []comparison {
	return []comparison{
		ratio("ipc-wall-go-to-c", prints("ipc", "go", "baseline", wallTime), prints("ipc", "c", "baseline", wallTime), atMost(1.20)),
		ratio("ipc-cpu-go-to-c", prints("ipc", "go", "baseline", cpuTime), prints("ipc", "c", "baseline", cpuTime), figures.Aim{}),
		ratio("ipc-wall-go-netpoll-to-c", prints("ipc", "go-netpoll", "baseline", wallTime), prints("ipc", "c", "baseline", wallTime), figures.Aim{}),
	}
}

// ipcCases are what a message costs through the net package, in each case.
func ipcCases() (all []comparison) {
	for _, test := range []string{"baseline", "goroutine", "channel-0", "channel-1", "channel-4", "empty-goroutine", "pool", "select"} {
		all = append(all, value("ipc-cases-"+test, prints("ipc-cases", "netpoll", test, wallTime), "ns", theMean, figures.Aim{}))
	}
	return all
}

// ipcLadder are the rungs of the ladder of transports, each against TCP and, where there is one, against its like in C: a request of 64 bytes and its
// answer, and the transfer of 64 KiB.
func ipcLadder() (all []comparison) {
	of := func(rung, test string) source { return prints("ipc-ladder", rung, test, wallTime) }
	for _, rung := range []string{"memory-spin", "memory-futex", "memory-eventfd", "pipe", "unix-stream", "unix-seqpacket", "unix-datagram"} {
		for _, c := range []struct{ name, test string }{{"", "request/size:64"}, {"transfer-", "transfer/size:65536"}} {
			all = append(all, ratio("ipc-ladder-"+c.name+rung+"-to-tcp", of(rung, c.test), of("tcp", c.test), figures.Aim{}))
			if slices.Contains([]string{"memory-spin", "memory-futex", "unix-seqpacket"}, rung) {
				all = append(all, ratio("ipc-ladder-"+c.name+rung+"-go-to-c", of(rung, c.test), of("c-"+rung, c.test), figures.Aim{}))
			}
		}
	}
	return all
}

func lzlog() []comparison {
	of := func(implementation, metric string) source { return prints("lzlog", implementation, "write", metric) }
	return []comparison{
		ratio("lzlog-wall-to-memcpy", of("lzlog", wallTime), of("memcpy", wallTime), atMost(2.5)),
		ratio("lzlog-wall-to-spdlog", of("lzlog", wallTime), of("spdlog", wallTime), atMost(0.20)),
		ratio("lzlog-cpu-to-spdlog", of("lzlog", cpuTime), of("spdlog", cpuTime), atMost(0.35)),
		ratio("lzlog-equal-wall-to-spdlog", prints("lzlog", "lzlog", "write-equal", wallTime), of("spdlog", wallTime), atMost(0.20)),
		ratio("lzlog-equal-cpu-to-spdlog", prints("lzlog", "lzlog", "write-equal", cpuTime), of("spdlog", cpuTime), atMost(0.35)),
		ratio("lzlog-compressing-wall-to-lzlog", prints("lzlog", "lzlog", "write-compressing", wallTime), of("lzlog", wallTime), figures.Aim{}),
		value("lzlog-compress", prints("lzlog", "lzlog", "compress", cpuTime), "ns", theMean, figures.Aim{}),
		value("lzlog-aes", prints("lzlog", "lzlog", "write-encrypted", wallTime), "ns", theMean, atMost(200)),
	}
}

// lzlogParts are what a write takes without a part of it each, in lzlogs that are none; and what spdlog's work takes at least.
func lzlogParts() []comparison {
	of := func(test string) source { return prints("lzlog-parts", "lzlog", test, wallTime) }
	all := []comparison{
		value("lzlog-write", of("write"), "ns", theMean, figures.Aim{}),
		value("lzlog-preparer", prints("lzlog-parts", "lzlog", "write", othersCPUTime), "ns", theMean, figures.Aim{}),
	}
	for _, part := range []string{"fork", "turn", "addition", "ahead", "announcement", "checksum", "commitment", "all"} {
		all = append(all, value("lzlog-without-"+part, of("without-"+part), "ns", theMean, figures.Aim{}))
	}
	limit := func(implementation, test, metric string) source {
		return prints("lzlog-limit", implementation, test, metric)
	}
	return append(all,
		value("lzlog-limit-clock", limit("limit", "clock", wallTime), "ns", theMean, figures.Aim{}),
		ratio("lzlog-limit-wall-to-spdlog", limit("limit", "blocks-clock", wallTime), limit("spdlog", "write", wallTime), figures.Aim{}),
		ratio("lzlog-limit-cpu-to-spdlog", limit("limit", "blocks-clock", cpuTime), limit("spdlog", "write", cpuTime), figures.Aim{}),
	)
}

// lzlogThreads are writes by ten threads and by one, with a place by an atomic addition and by the two other ways to reserve one.
func lzlogThreads() []comparison {
	of := func(implementation, test string) source {
		return prints("lzlog-threads", implementation, test, wallTime)
	}
	all := []comparison{
		ratio("lzlog-10-wall-to-fetchadd", of("lzlog", "write"), of("fetchadd", "write"), atMost(1.3)),
		ratio("lzlog-10-wall-to-spdlog", of("lzlog", "write"), of("spdlog", "write"), figures.Aim{}),
	}
	for _, other := range []string{"cas", "mutex"} {
		for _, c := range []struct{ threads, test string }{{"1", "write-alone"}, {"10", "write"}} {
			all = append(all, ratio("lzlog-"+c.threads+"-"+other+"-to-add", of("lzlog-"+other, c.test), of("lzlog", c.test), figures.Aim{}))
		}
	}
	return all
}
