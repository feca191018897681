package main

import (
	"cmp"
	"fmt"
	"time"

	"loadstone.dev/loadstone/hack/bench/local"
)

// load is what a cell's program is put under.
type load string

const (
	// keepAlive is wrk on connections that are kept.
	keepAlive load = "keep-alive"
	// latency is the same without interruptions, for what they would distort.
	latency load = "latency"
	// perRequest is ab, which opens a connection for each request.
	perRequest load = "connection-per-request"
	// fairness is a client that counts the answers of each connection.
	fairness load = "fairness"
	// systemCalls is keepAlive with perf beside it.
	systemCalls load = "system-calls"
	// growth is keepAlive for ten million requests.
	growth load = "growth"
	// ownCase is none: the program is a micro-benchmark.
	ownCase load = "case"
)

// cell is one program under one load. It is comparable, since a cell of several comparisons is measured once.
type cell struct {
	Program     string `json:"program"`
	Load        load   `json:"load"`
	Connections int32  `json:"connections,omitempty"`
	Path        string `json:"path,omitempty"`
	// Case and CPUs are of micro-benchmarks.
	Case string `json:"case,omitempty"`
	CPUs string `json:"cpus,omitempty"`
}

// String names the cell for people.
func (c cell) String() string {
	if c.Load == ownCase {
		return c.Program + " " + c.Case
	}
	return c.Program + " " + c.set()
}

// set is the same for all cells of a group that are measured side by side.
func (c cell) set() string {
	if c.Load == ownCase {
		return "cases"
	}
	return fmt.Sprintf("%s %s %d", c.Load, cmp.Or(c.Path, "/"), c.Connections)
}

// once says that one block is enough, or all that there is time for.
func (c cell) once() bool { return c.Load == growth }

const (
	// warmup precedes every load of wrk's; settle is for the server to notice that it is over.
	warmup = 300 * time.Millisecond
	settle = 30 * time.Millisecond
	// seconds is how long a cell is under load.
	seconds = 1
	// around is what starting and ending a server, a tool, and a micro-benchmark with its own warm-up are reckoned to take.
	around = 300 * time.Millisecond
)

// takes is about how long a cell is measured.
func (c cell) takes() time.Duration {
	switch c.Load {
	case growth:
		// A good server answers 200,000 a second here.
		return grownRequests / 200_000 * time.Second
	case fairness:
		return around + fairTime
	case perRequest:
		// Each ab needs a moment for itself.
		return around + 3*seconds*time.Second/2
	case ownCase:
		return around + seconds*time.Second + 500*time.Millisecond
	case keepAlive, systemCalls, latency:
	}
	return around + warmup + settle + seconds*time.Second
}

// The cells that there are.

func wrk(program string, connections int32) cell {
	return cell{Program: program, Load: keepAlive, Connections: connections}
}

func tail(program string, connections int32) cell {
	return cell{Program: program, Load: latency, Connections: connections}
}

func fetch(program, file string, connections int32) cell {
	return cell{Program: program, Load: keepAlive, Connections: connections, Path: file}
}

func ab(program string, connections int32) cell {
	return cell{Program: program, Load: perRequest, Connections: connections}
}

func fair(program string, connections int32) cell {
	return cell{Program: program, Load: fairness, Connections: connections}
}

func calls(program string, connections int32) cell {
	return cell{Program: program, Load: systemCalls, Connections: connections}
}

func grown(program string, connections int32) cell {
	return cell{Program: program, Load: growth, Connections: connections}
}

// single is a case of a program with one thread, which has CPU 1 for itself.
func single(program, name string) cell {
	return cell{Program: program, Load: ownCase, Case: name, CPUs: local.ServerCPU}
}

// threads is a case of a program with more threads or processes than one.
func threads(program, name string) cell {
	return cell{Program: program, Load: ownCase, Case: name, CPUs: local.BothCPUs}
}
