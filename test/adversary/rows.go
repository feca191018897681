package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// row is a planted server, compared with the honest one.
type row struct {
	fault string
	// does says what the server does, for readers.
	does string
	// good and bad are the work of a request.
	good, bad time.Duration
	// levels are numbers of connections; nil for 10.
	levels  []int
	seconds int
	// objective bounds p99 of both servers, in microseconds; 0 for none.
	objective int
	// never are patterns of sentences that must not be printed.
	never []string
	// must are patterns of facts: the report must state one of them, if there are any.
	must []string
}

// Patterns of sentences. "bad" is the planted server's name in each run.
const (
	faster      = `bad has (at least )?[\d.]+ % higher throughput|bad serves`
	cheaper     = `bad uses (at least )?[\d.]+ % less CPU`
	lowLatency  = `bad has (at most |at least )?[\d.]+ % lower p[\d.]+ latency`
	slowerClaim = `bad has (at most )?[\d.]+ % lower throughput`
	costlier    = `bad uses (at least )?[\d.]+ % more CPU`
	passed      = `(^|; )PASSED`
	depends     = `depends on the load`
)

// Facts have the form kind=value. See factsOf.
const (
	wrongAnswers = `reason=(WrongAnswers|WrongBody|AnswerSize|UnequalAnswers|NotEquivalent|OtherAnswers)`
	unsteady     = `reason=(WarmupNotOver|SlowedDown)`
	paused       = `reason=(StoodStill|\w*Pause\w*|\w*Stall\w*)|objective=Missed`
	aged         = `aged=bad`
	uncounted    = `reason=CPUUncounted`
)

// rows are all planted servers. The honest one shows that nothing is claimed without cause.
func rows() []row {
	const us = time.Microsecond
	return []row{
		{fault: "", does: "nothing: it is the honest server", good: 20 * us, bad: 20 * us, never: []string{faster, cheaper, lowLatency, slowerClaim, costlier}},
		{fault: slowStart, does: "works four times as long in its first 2 s under load", good: 20 * us, bad: 20 * us, never: []string{faster, cheaper}, must: []string{unsteady}},
		{fault: fastFirst, does: "works four times as long after 2 s under load", good: 25 * us, bad: 20 * us, never: []string{faster, cheaper}, must: []string{unsteady}},
		{fault: aging, does: "works a tenth longer in each second", good: 40 * us, bad: 22 * us, levels: []int{4, 8, 16, 32}, seconds: 1, never: []string{depends}, must: []string{aged}},
		{fault: stall, does: "stands still for 190 ms of each second", good: 25 * us, bad: 20 * us, seconds: 3, objective: 2000, never: []string{lowLatency, passed}, must: []string{paused}},
		{fault: collector, does: "allocates 200 MB each second, and collects garbage", good: 20 * us, bad: 15 * us, never: []string{lowLatency}},
		{fault: wrongLater, does: "answers wrongly after 2,000 requests of a connection", good: 20 * us, bad: 20 * us, never: []string{faster, cheaper, lowLatency}, must: []string{wrongAnswers}},
		{fault: wrongHeader, does: "answers rightly only clients that send a User-Agent", good: 20 * us, bad: 20 * us, never: []string{faster, cheaper, lowLatency}, must: []string{wrongAnswers}},
		{fault: wrongFew, does: "answers 1 of 1,000 requests wrongly", good: 20 * us, bad: 10 * us, never: []string{faster, cheaper, lowLatency}, must: []string{wrongAnswers}},
		{fault: smaller, does: "sends a smaller body when many connections are open", good: 20 * us, bad: 20 * us, never: []string{faster, cheaper, lowLatency}, must: []string{wrongAnswers}},
		{fault: lonely, does: "lets the request of a lone connection wait 1 ms", good: 10 * us, bad: 8 * us, levels: []int{1, 16, 64}, seconds: 1, must: []string{`verdict=(Mixed|DependsOnLoad|Worse)`}},
		{fault: daemon, does: "works three times as long, in a daemon", good: 20 * us, bad: 60 * us, never: []string{faster, cheaper}, must: []string{slowerClaim, costlier, uncounted}},
		{fault: offload, does: "lets a child work three times as long", good: 20 * us, bad: 60 * us, never: []string{faster, cheaper}, must: []string{slowerClaim, costlier, uncounted}},
	}
}

// name is the row's, and of its run.
func (r row) name() string {
	if r.fault == "" {
		return "honest"
	}
	return r.fault
}

// spec returns the file of the row's run. program is this program.
func (r row) spec(program string) string {
	levels := []string{"{connections: 10}"}
	if len(r.levels) > 0 {
		levels = levels[:0]
	}
	for _, n := range r.levels {
		levels = append(levels, fmt.Sprintf("{connections: %d}", n))
	}
	objective := ""
	if r.objective > 0 {
		objective = fmt.Sprintf("  objectives:\n  - {metric: LatencyPercentile, percentile: \"99\", max: \"%d\", implementations: [good, bad]}\n", r.objective)
	}
	return fmt.Sprintf(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %[1]s}
spec:
  implementations:
  - {name: good, command: [%[2]q, serve, --port=18180, --work=%[3]s], port: 18180}
  - {name: bad, command: [%[2]q, serve, --port=18181, --work=%[4]s, --fault=%[5]s], port: 18181}
  baseline: good
  loads:
  - name: sweep
    tool: wrk
    request: {path: /, expect: {status: 200}}
    levels: [%[6]s]
    warmupSeconds: 1
    durationSeconds: %[7]d
  blocks: 7
%[8]s`, r.name(), program, r.good, r.bad, r.fault, strings.Join(levels, ", "), cmp.Or(r.seconds, 2), objective)
}
