package report_test

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

const hostile = `"><script>alert('x')</script><img src=x onerror=alert(1)>{{.}}]]></style>&amp;`

// fixtures are the runs with golden files.
var fixtures = map[string]func() record.RunData{
	"quick":     quick,
	"duel":      func() record.RunData { return small(10) },
	"bracketed": bracketed,
	"troubled":  troubled,
	"gated":     gated,
	"aa":        sameTwice,
	"capacity":  func() record.RunData { return searched(7) },
	"built":     built,
	"profiled":  profiledRun,
}

func small(blocks int32) record.RunData {
	o := recordtest.Duel(blocks)
	o.Levels = []int32{10, 100}
	return recordtest.Run(o)
}

// quick has too few blocks for a verdict.
func quick() record.RunData { return small(3) }

// bracketed has two generator pods and a tool with latency brackets. One distribution includes connection opening;
// the second level has an arrival rate.
func bracketed() record.RunData {
	o := recordtest.Duel(3)
	o.Levels, o.Generators = []int32{10, 100}, 2
	d := recordtest.Run(o)
	d.Manifest.Plan.Cells[1].RequestsPerSecond = 2000
	for i := range d.Trials {
		t := &d.Trials[i]
		t.Manifest.Cells[1].RequestsPerSecond, t.Servers[0].Cells[1].RequestsPerSecond = 2000, 2000
		for k := range t.Generators {
			closed, open := &t.Generators[k].Cells[0], &t.Generators[k].Cells[1]
			m := closed.Measurement
			m.Latency = []record.Latency{recordtest.Widen(record.WithConnection, m.Latency[0])}
			open.RequestsPerSecond = 2000
		}
		atRate(t, 1, 2000)
	}
	return d
}

// atRate turns a closed cell into one with an arrival rate, which drops one arrival in 200.
func atRate(t *record.TrialData, cell int, rate int64) {
	seen := &t.Servers[0].Cells[cell]
	var before int64
	for k := range t.Generators {
		before += t.Generators[k].Cells[cell].Measurement.Requests
	}
	seconds := t.Generators[0].Cells[cell].Measurement.DurationMicros / 1_000_000
	share := float64(rate*seconds) / float64(before)
	for k := range t.Generators {
		r := &t.Generators[k].Cells[cell]
		asked := rate * seconds / int64(len(t.Generators))
		recordtest.SetRequests(r.Measurement, asked-asked/200)
		m := r.Measurement
		m.Asked, m.Dropped, m.DurationMicros = asked, asked/200, seconds*1_000_000
		m.Latency = []record.Latency{recordtest.Widen(record.FromIntended, recordtest.Thin(m.Latency[0], m.Requests))}
		r.CPUNanos, r.Network.SegmentsOut = int64(float64(r.CPUNanos)*share), asked
	}
	others := seen.BusyNanos - seen.CPUNanos
	seen.CPUNanos, seen.Network.SegmentsOut = int64(float64(seen.CPUNanos)*share), rate*seconds
	seen.RunQueueNanos = int64(float64(seen.RunQueueNanos) * share)
	seen.BusyNanos, seen.RSSStartBytes, seen.RSSMiddleBytes = seen.CPUNanos+others, seen.RSSBytes, seen.RSSBytes
	for k := range seen.Series.SegmentsOut {
		seen.Series.SegmentsOut[k] = int64(float64(seen.Series.SegmentsOut[k]) * share)
		seen.Series.CPUNanos[k] = int64(float64(seen.Series.CPUNanos[k]) * share)
	}
}

// troubled has everything go wrong, with hostile text from outside.
func troubled() record.RunData {
	d := small(4)
	d.Manifest.Run.Name = hostile
	d.Manifest.Notes = append(d.Manifest.Notes, hostile)
	recordtest.Drop(&d, 2, "go", v1alpha1.ReasonServerExited, "exit status 139: "+hostile)

	run, seen := recordtest.Cell(&d, 1, "go-slow", 10)
	run.Measurement.Errors = record.Errors{Read: 3, Timeout: 1}
	seen.Unknown = []string{"the descriptors of " + hostile}
	seen.CPUsAllowed = hostile

	run, _ = recordtest.Cell(&d, 3, "go-slow", 100)
	run.Measurement, run.Error = nil, "reading wrk's output: "+hostile

	_, seen = recordtest.Cell(&d, 4, "go", 100)
	seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/10

	run, seen = recordtest.Cell(&d, 2, "go-slow", 100)
	run.Audit.WrongBody, run.Audit.Example = 1, "the body of "+hostile
	seen.Network.PassiveOpens = run.Measurement.Requests / 20

	_, seen = recordtest.Cell(&d, 3, "go", 10)
	seen.Sockets.Unanswered = 1

	run, seen = recordtest.Cell(&d, 4, "go-slow", 10)
	run.Audit, seen.Sockets = nil, nil
	run, _ = recordtest.Cell(&d, 4, "go-slow", 100)
	run.Measurement.Bytes /= 2
	_, seen = recordtest.Cell(&d, 4, "epoll", 100)
	clear(seen.Series.SegmentsOut[30:40])

	last := &d.Trials[len(d.Trials)-1]
	last.Manifest.Attempt, last.Manifest.Failures = 2, []string{"PodLost: " + hostile}
	last.Servers[0].Environment.OS = hostile
	last.Manifest.Artifacts[0].Name, last.Manifest.Artifacts[0].Key = hostile, "a/"+hostile
	return d
}

// gated has objectives of every kind and a noise floor.
func gated() record.RunData {
	o := recordtest.Duel(7)
	o.Levels, o.Seconds = []int32{10, 100}, 1
	d := recordtest.Run(o)
	recordtest.Drop(&d, 3, "go", v1alpha1.ReasonServerExited, "")
	aa, err := analysis.Analyse(sameTwice())
	if err != nil {
		panic(err)
	}
	d.Calibration = aa.NoiseFloor
	d.Calibration.Run.UID = "another-run"
	d.Manifest.Plan.Objectives = []record.Objective{
		{Name: "fast enough", Metric: v1alpha1.ObjectiveThroughput, Load: "sweep", Connections: 10, Min: "50000"},
		{Metric: v1alpha1.ObjectiveLatencyPercentile, Percentile: "99", Load: "sweep", Connections: 100, Max: "100"},
		{Metric: v1alpha1.ObjectiveLatencyPercentile, Percentile: "99.9", Load: "sweep", Connections: 100, Max: "1000000"},
		{Metric: v1alpha1.ObjectiveMeanLatency, Load: "sweep", Connections: 100, Max: "1000000"},
		{Metric: v1alpha1.ObjectiveErrorRate, Load: "sweep", Connections: 10, Max: "0.001"},
		{Metric: v1alpha1.ObjectiveServerCPUPerRequest, Load: "sweep", Connections: 10, Max: "12"},
		{Metric: v1alpha1.ObjectiveServerCPUs, Load: "sweep", Connections: 10, Max: "2", Implementations: []string{"epoll"}},
		{Metric: v1alpha1.ObjectivePeakMemory, Load: "sweep", Connections: 10, Max: "20000000"},
		{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedThroughput, Load: "sweep", Connections: 10, Min: "0.95"},
		{
			Name: hostile, Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedServerCPUPerRequest, Load: "sweep", Connections: 10, Max: "1.05",
			Against: &record.Reference{Runs: []v1alpha1.PastRun{{UID: "a"}, {UID: "c"}, {UID: "d"}}, Anchor: "epoll"},
		},
		{
			Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedServerCPUPerRequest, Load: "sweep", Connections: 10, Max: "1.05",
			Against: &record.Reference{Runs: []v1alpha1.PastRun{{UID: "b"}}, Anchor: "epoll"},
		},
	}
	then := recordtest.Run(o)
	d.Earlier = map[string]record.EarlierRun{"a": {Data: &then}, "c": {Data: &then}, "d": {Data: &then}, "b": {Error: "no such object: " + hostile}}
	return d
}

// sameTwice is an A/A run with a sweep to its limit.
func sameTwice() record.RunData {
	o := recordtest.Duel(7)
	o.Name, o.Levels, o.Seconds = "aa", []int32{1, 10, 100}, 1
	o.Servers = []recordtest.Server{o.Servers[0], o.Servers[0]}
	o.Servers[1].Name = "go-again"
	d := recordtest.Run(o)
	d.Manifest.Plan.Implementations[1].Image = d.Manifest.Plan.Implementations[0].Image
	return d
}

// built is a run with known builds: Go's is optimised, another counts coverage. Claims on the first are confirmed,
// refuted and unchecked.
func built() record.RunData {
	d := quick()
	yes := record.Fact{Is: record.Yes, By: "all 3 units with recorded flags were compiled with -O2"}
	no, open := record.Fact{Is: record.No, By: "nothing of it is there"}, record.Fact{Is: record.Unknown, By: "it is stripped"}
	for i := range d.Trials {
		t := &d.Trials[i]
		b := record.Binary{
			Path: "/usr/local/bin/" + t.Manifest.Servers[0], SHA256: "5f0c3a", Bytes: 1 << 20, Format: "ELF 64-bit little-endian", Arch: "x86-64",
			Compilers: []string{"GNU C17 12.2.0"}, Flags: []string{"-O2 -g"}, RELRO: "full", Libraries: []string{"libc.so.6"}, Allocator: "glibc",
			AllocatorBy: "it imports malloc and needs libc.so.6", BindNow: yes, StackProtector: open, StackClash: no, Fortify: no,
			BranchTargets: no, ShadowStack: no,
			Build: record.Build{Optimized: yes, DebugInfo: yes, Coverage: no, Sanitizers: no, Assertions: open, Stripped: no, PIE: yes, Static: no},
		}
		if t.Manifest.Servers[0] == d.Manifest.Plan.Implementations[1].Name {
			b.Build.Coverage = record.Fact{Is: record.Yes, By: "symbol __gcov_init"}
		}
		if t.Manifest.Block == 2 {
			b.SHA256 = "77aa01"
		}
		t.Servers[0].Binary, t.Servers[0].IdleBytes = &b, 8<<20+int64(i)<<12
		t.Servers[0].Replies = []record.Reply{
			{Path: "/version", Text: "1.2", There: record.Fact{Is: record.Yes, By: `GET /version got "shop 1.2 (debug)\n"`}},
			{Path: "/version", Text: "debug", There: record.Fact{Is: record.Yes, By: `GET /version got "shop 1.2 (debug)\n"`}},
		}
		t.Servers[0].StartUp = &record.StartUp{Millis: 120 + int64(i)*10, ResolutionMillis: 40, AtMost: i%2 == 0, AnswerMillis: 131 + int64(i)*10, AnswerAtMost: i%2 == 0}
		if i == 4 {
			t.Servers[0].StartUp.AnswerMillis = 0 // It came too late.
		}
	}
	d.Manifest.Plan.Implementations[0].Build = record.Expectations{Assertions: record.ExpectForbidden, Optimized: record.ExpectRequired}
	d.Manifest.Plan.Implementations[0].Claims = []record.Claim{
		{Subject: record.ClaimAllocator, Value: "mimalloc"},
		{Subject: record.ClaimFlag, Value: "-O2"},
		{Subject: record.ClaimSymbol, Value: "mi_malloc"},
		{Subject: record.ClaimResponse, Value: "1.2", Path: "/version"},
		{Subject: record.ClaimResponse, Value: "debug", Path: "/version", Absent: true},
		{Subject: record.ClaimProperty, Value: "sanitizers", Absent: true},
	}
	return d
}
