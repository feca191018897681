package validity_test

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/vegeta"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// counts are the faulty server's output at its end.
type counts struct {
	Connections, Ignored, Requests, Errors, WrongBodies, WrongLengths, Closed, Hung int64
}

// fault is one way to misbehave.
type fault struct {
	name string
	// flags are those of the server.
	flags []string
	// committed returns the number of faults, which the tool must report; nil if they cannot be counted.
	committed func(counts) int64
	// record says where else the record of a cell shows the fault.
	record string
}

// faults are the rows of the table.
var faults = []fault{
	{name: "no fault", record: "nothing"},
	{
		name: "error status", flags: []string{"--error-every=10"}, committed: func(c counts) int64 { return c.Errors },
		record: "`audit.wrongStatus`",
	},
	{
		name: "wrong body of the right length", flags: []string{"--wrong-body-every=10"}, committed: func(c counts) int64 { return c.WrongBodies },
		record: "`audit.wrongBody`",
	},
	{
		name: "wrong body after a while", flags: []string{"--wrong-body-after=300ms"},
		committed: func(c counts) int64 { return c.WrongBodies }, record: "`measuredAudit.wrongBody`",
	},
	{
		name: "wrong length", flags: []string{"--wrong-length-every=10"}, committed: func(c counts) int64 { return c.WrongLengths },
		record: "`audit.wrongBody`",
	},
	{name: "closed connections", flags: []string{"--close-every=10"}, record: "`network.passiveOpens` against the connections of the level"},
	{
		name: "requests that hang", flags: []string{"--hang-every=10"}, committed: func(c counts) int64 { return c.Hung },
		record: "`sockets.hung`; the throughput; `series` that stands still",
	},
	{
		name: "connections never answered", flags: []string{"--serve-only=2"}, committed: func(c counts) int64 { return c.Ignored },
		record: "`sockets.unanswered`, `sockets.jain`",
	},
	{
		name: "connections that find the queue full", flags: []string{"--backlog=1", "--accept-pause=100ms"},
		record: "`network.handshakes.listenOverflows`, the generator's `network.handshakes.synRetransmits`",
	},
	{name: "slower after a while", flags: []string{"--slow-after=300ms", "--slow-by=100us"}, record: "`series`"},
	{name: "memory that grows", flags: []string{"--leak=512"}, record: "`rssStartBytes`, `rssMiddleBytes` and `rssBytes`"},
	{name: "more CPU time", flags: []string{"--spin=20000"}, record: "`cpuNanos` by requests: a compared value, no fault"},
	{name: "another answer than expected", flags: []string{"--answer=goodbye"}, record: "the check before the trial, which then does not run"},
	{name: "a server that exits", flags: []string{"--exit-after=100ms"}, record: "the container's exit"},
}

// column is a tool and the faults that it notices.
type column struct {
	name string
	tool.Tool
	// cell is a load of about a second.
	cell record.Cell
	// notices maps faults to the errors that the tool counts: comma-separated fields of record.Errors, or "no measurement". Faults that are not
	// listed go unnoticed.
	notices map[string]string
	// uncounted is how many requests the tool may send without counting them, in addition to those in flight at its end.
	uncounted int64
}

const noMeasurement = "no measurement"

// load is a second of keep-alive requests on four connections.
func load(t record.Tool) record.Cell {
	body := "helloworld"
	return record.Cell{
		Load: "faults", Tool: t, Connections: 4, Threads: 1, Generators: 1, DurationSeconds: 1, Connection: record.KeepAlive,
		Request: record.Request{Path: "/", Expect: record.Expect{Status: 200, Body: &body}},
	}
}

// columns are the tools.
var columns = []column{
	{
		name: "wrk", Tool: wrk.Tool{}, cell: load(record.ToolWrk),
		notices: map[string]string{"error status": "Status", "a server that exits": "Read, Write"},
	},
	{
		name: "ab", Tool: ab.Tool{}, cell: load(record.ToolAb),
		notices: map[string]string{
			"error status": "Status, Body", "wrong length": "Body", "requests that hang": noMeasurement, "a server that exits": "Read",
		},
	},
	{
		name: "k6", Tool: k6.Tool{}, cell: load(record.ToolK6),
		notices: map[string]string{
			"error status": "Status", "wrong body of the right length": "Body", "wrong body after a while": "Body", "wrong length": "Body", "another answer than expected": "Body",
			"a server that exits": "Connect",
		},
	},
	{
		name: "vegeta", Tool: vegeta.Tool{}, cell: atRate(load(record.ToolVegeta)),
		notices: map[string]string{
			"error status": "Status", "wrong body of the right length": "Body", "wrong body after a while": "Body", "wrong length": "Body", "another answer than expected": "Body",
			"requests that hang": "Timeout", "connections never answered": "Timeout", "a server that exits": "Connect",
		},
		// It sends for 5 ms longer than it measures, so that a late timer loses no arrival.
		uncounted: arrivals / 200,
	},
}

// arrivals are those of a second.
const arrivals = 5000

// atRate imposes a rate that sometimes uses all connections.
func atRate(c record.Cell) record.Cell {
	c.RequestsPerSecond = arrivals
	return c
}

func matrix() string {
	var b strings.Builder
	header, line := "| fault | flags of `faulty` |", "|---|---|"
	for _, c := range columns {
		header += " " + c.name + " |"
		line += "---|"
	}
	fmt.Fprintf(&b, "%s where else the record shows it |\n%s---|\n", header, line)
	for _, f := range faults {
		fmt.Fprintf(&b, "| %s | %s |", f.name, code(f.flags))
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", orNothing(c.notices[f.name]))
		}
		fmt.Fprintf(&b, " %s |\n", f.record)
	}
	return b.String()
}

func code(flags []string) string {
	quoted := make([]string, len(flags))
	for i, f := range flags {
		quoted[i] = "`" + f + "`"
	}
	return strings.Join(quoted, " ")
}

func orNothing(notice string) string {
	if notice == "" {
		return "nothing"
	}
	return notice
}
