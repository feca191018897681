package report_test

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/statstest"
)

const hostile = `"><script>alert('x')</script><img src=x onerror=alert(1)>{{.}}]]></style>&amp;`

// fixtures are the runs that are printed to golden files.
var fixtures = map[string]func() record.RunData{
	"quick":    quick,
	"duel":     func() record.RunData { return small(10) },
	"troubled": troubled,
}

// small is a run of two contenders and a limit at two levels.
func small(blocks int32) record.RunData {
	o := statstest.Duel(blocks)
	o.Levels = []int32{10, 100}
	return statstest.Run(o)
}

// quick is a run of too few blocks for a verdict.
func quick() record.RunData { return small(3) }

// troubled is a run in which everything goes wrong that can, with hostile text wherever text comes from outside.
func troubled() record.RunData {
	d := small(4)
	d.Manifest.Run.Name = hostile
	d.Manifest.Notes = append(d.Manifest.Notes, hostile)
	statstest.Drop(&d, 2, "go", v1alpha1.ReasonServerExited, "exit status 139: "+hostile)

	run, seen := statstest.Cell(&d, 1, "go-slow", 10)
	run.Measurement.Errors = record.Errors{Read: 3, Timeout: 1}
	seen.Unknown = []string{"the descriptors of " + hostile}
	seen.CPUsAllowed = hostile

	run, _ = statstest.Cell(&d, 3, "go-slow", 100)
	run.Measurement, run.Error = nil, "reading wrk's output: "+hostile

	_, seen = statstest.Cell(&d, 4, "go", 100)
	seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/10

	last := &d.Trials[len(d.Trials)-1]
	last.Manifest.Attempt, last.Manifest.Faults = 2, []string{"PodLost: " + hostile}
	last.Server.Environment.Kernel = hostile
	last.Manifest.Artifacts[0].Name, last.Manifest.Artifacts[0].Key = hostile, "a/"+hostile
	return d
}
