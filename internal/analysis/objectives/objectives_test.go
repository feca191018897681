package objectives_test

import (
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// judged returns the result for go at 100 connections in a duel of ten blocks.
func judged(t *testing.T, o record.Objective, change func(*record.RunData)) objectives.Result {
	t.Helper()
	options := recordtest.Duel(10)
	options.Levels, options.Servers, options.Seconds = []int32{100}, options.Servers[:2], 1
	d := recordtest.Run(options)
	o.Load, o.Connections = "sweep", 100
	if len(o.Implementations) == 0 {
		o.Implementations = []string{"go"}
	}
	d.Manifest.Plan.Objectives = []record.Objective{o}
	if change != nil {
		change(&d)
	}
	entries := analysed(t, d).Objectives
	if len(entries) != 1 {
		t.Fatalf("%d entries, want one: %+v", len(entries), entries)
	}
	return entries[0]
}

func cells(implementation string, blocks int32, change func(*record.CellRun, *record.CellObservation)) func(*record.RunData) {
	return func(d *record.RunData) {
		for b := int32(1); b <= blocks; b++ {
			change(recordtest.Cell(d, b, implementation, 100))
		}
	}
}

func TestObjectives(t *testing.T) {
	// go makes about 82,000 requests/s at 100 connections, with a p50 of 1.1 ms and 12 µs of CPU time per request.
	strange := cells("go", 10, func(_ *record.CellRun, seen *record.CellObservation) {
		seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/2
	})
	limited := func(implementation string) func(*record.RunData) {
		return cells(implementation, 10, func(run *record.CellRun, seen *record.CellObservation) {
			run.CPUNanos, seen.CPUNanos = 1_040_000_000, seen.CPUNanos*8/10
			seen.BusyNanos = seen.CPUNanos
		})
	}
	errors := func(n int64) func(*record.RunData) {
		return cells("go", 10, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Read = n })
	}
	unchecked := func(blocks int32) func(*record.RunData) {
		return cells("go", blocks, func(run *record.CellRun, _ *record.CellObservation) { run.Audit = nil })
	}
	metric := func(m v1alpha1.ObjectiveMetric, minimum, maximum string) record.Objective {
		return record.Objective{Metric: m, Min: minimum, Max: maximum}
	}
	percentile := func(p, maximum string) record.Objective {
		return record.Objective{Metric: v1alpha1.ObjectiveLatencyPercentile, Percentile: p, Max: maximum}
	}
	ratio := func(of v1alpha1.ComparedMetric, minimum, maximum string) record.Objective {
		return record.Objective{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: of, Min: minimum, Max: maximum, Implementations: []string{"go-slow"}}
	}
	for name, tc := range map[string]struct {
		objective record.Objective
		change    func(*record.RunData)
		want      objectives.Outcome
		reason    objectives.Reason
		n         int
	}{
		"a throughput above its least":                    {metric("Throughput", "50000", ""), nil, objectives.Met, "", 10},
		"a throughput below its least":                    {metric("Throughput", "500000", ""), nil, objectives.Missed, "", 10},
		"a throughput about at its least":                 {metric("Throughput", "81500", ""), nil, objectives.Undecided, objectives.IntervalStraddles, 10},
		"a throughput above its most":                     {metric("Throughput", "", "50000"), nil, objectives.Missed, "", 10},
		"a lower bound above the least":                   {metric("Throughput", "50000", ""), limited("go"), objectives.Met, "", 10},
		"a lower bound below the least":                   {metric("Throughput", "500000", ""), limited("go"), objectives.Undecided, objectives.GeneratorLimited, 10},
		"a lower bound below the most":                    {metric("Throughput", "", "500000"), limited("go"), objectives.Undecided, objectives.GeneratorLimited, 10},
		"a throughput of void cells":                      {metric("Throughput", "50000", ""), strange, objectives.Undecided, objectives.VoidCells, 0},
		"a throughput of two blocks":                      {metric("Throughput", "50000", ""), func(d *record.RunData) { d.Manifest.Blocks = 2; d.Trials = d.Trials[:4] }, objectives.Undecided, objectives.TooFewBlocks, 2},
		"a throughput beside error answers":               {metric("Throughput", "50000", ""), cells("go", 1, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Status = 9 }), objectives.Undecided, objectives.ImplementationFailures, 9},
		"a low throughput beside error answers":           {metric("Throughput", "500000", ""), cells("go", 1, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Status = 9 }), objectives.Missed, "", 9},
		"a throughput beside a crash":                     {metric("Throughput", "50000", ""), func(d *record.RunData) { recordtest.Drop(d, 3, "go", v1alpha1.ReasonServerExited, "") }, objectives.Undecided, objectives.ImplementationFailures, 9},
		"a percentile below its most, in a closed loop":   {percentile("99", "1000000"), nil, objectives.Undecided, objectives.ClosedLoop, 10},
		"a ratio of percentiles in a closed loop":         {record.Objective{Metric: "RatioToBaseline", Of: "LatencyPercentile", Percentile: "99", Max: "9", Implementations: []string{"go-slow"}}, nil, objectives.Undecided, objectives.ClosedLoop, 10},
		"a throughput of suspect cells alone":             {metric("Throughput", "50000", ""), unchecked(10), objectives.Undecided, objectives.SuspectCells, 10},
		"a low throughput of suspect cells alone":         {metric("Throughput", "500000", ""), unchecked(10), objectives.Missed, "", 10},
		"a throughput of some suspect cells":              {metric("Throughput", "50000", ""), unchecked(9), objectives.Met, "", 10},
		"CPUs of suspect cells alone":                     {metric("ServerCPUs", "", "1.5"), unchecked(10), objectives.Undecided, objectives.SuspectCells, 10},
		"an error rate of suspect cells alone":            {metric("ErrorRate", "", "0.001"), unchecked(10), objectives.Met, "", 10},
		"a ratio to a baseline of suspect cells alone":    {ratio("Throughput", "0.7", ""), unchecked(10), objectives.Undecided, objectives.SuspectCells, 10},
		"a percentile above its most":                     {percentile("50", "10"), nil, objectives.Missed, "", 10},
		"a percentile above its most in a busy generator": {percentile("50", "10"), limited("go"), objectives.Undecided, objectives.GeneratorLimited, 10},
		"a percentile below its most in a busy generator": {percentile("50", "1000000"), limited("go"), objectives.Undecided, objectives.ClosedLoop, 10},
		"a percentile of too few samples":                 {percentile("99.9", "1000000"), cells("go", 1, few), objectives.Undecided, objectives.TooFewSamples, 0},
		"a percentile among timeouts":                     {percentile("99", "1000000"), cells("go", 10, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Timeout = 1e6 }), objectives.Undecided, objectives.VoidCells, 0},
		"a mean latency below its most":                   {metric("MeanLatency", "", "1000000"), nil, objectives.Met, "", 10},
		"CPU time above its most":                         {metric("ServerCPUPerRequest", "", "5"), nil, objectives.Missed, "", 10},
		"CPUs below their most":                           {metric("ServerCPUs", "", "1.5"), nil, objectives.Met, "", 10},
		"memory below its most":                           {metric("PeakMemory", "", "20000000"), nil, objectives.Met, "", 10},
		"no errors at all":                                {metric("ErrorRate", "", "0.001"), nil, objectives.Met, "", 10},
		"no errors, but too few requests to know":         {metric("ErrorRate", "", "0.0000001"), nil, objectives.Undecided, objectives.IntervalStraddles, 10},
		"errors that void every cell":                     {metric("ErrorRate", "", "0.001"), errors(4000), objectives.Missed, "", 10},
		"errors in one block come in bursts":              {metric("ErrorRate", "", "0.001"), cells("go", 1, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Read = 3000 }), objectives.Undecided, objectives.IntervalStraddles, 10},
		"no errors, but a crash":                          {metric("ErrorRate", "", "0.001"), func(d *record.RunData) { recordtest.Drop(d, 3, "go", v1alpha1.ReasonServerExited, "") }, objectives.Undecided, objectives.ImplementationFailures, 9},
		"a ratio below its least":                         {ratio("Throughput", "0.95", ""), nil, objectives.Missed, "", 10},
		"a ratio above its least":                         {ratio("Throughput", "0.7", ""), nil, objectives.Met, "", 10},
		"a ratio of cost above its most":                  {ratio("ServerCPUPerRequest", "", "1.05"), nil, objectives.Missed, "", 10},
		"a ratio whose contender is only a bound":         {ratio("Throughput", "0.95", ""), limited("go-slow"), objectives.Undecided, objectives.GeneratorLimited, 10},
		"a ratio whose baseline is only a bound":          {ratio("Throughput", "0.95", ""), limited("go"), objectives.Missed, "", 10},
	} {
		t.Run(name, func(t *testing.T) {
			got := judged(t, tc.objective, tc.change)
			if got.Outcome != tc.want || got.Reason != tc.reason || got.N != tc.n {
				t.Errorf("%s %s n=%d, want %s %s n=%d", got.Outcome, got.Reason, got.N, tc.want, tc.reason, tc.n)
				if got.Value != nil && got.Low != nil && got.High != nil {
					t.Logf("value %v, from %v to %v %s", *got.Value, *got.Low, *got.High, got.Unit)
				}
			}
		})
	}
}

// few leaves a cell a hundredth of its latencies.
func few(run *record.CellRun, _ *record.CellObservation) {
	h := &histogram.Histogram{}
	for v := range int64(50) {
		if err := h.Record(20+v, 40); err != nil {
			panic(err)
		}
	}
	run.Measurement.Latency = []record.Latency{recordtest.Encode(record.Observed, h)}
}

func TestAnObjectiveHasAnEntryForEachImplementationAndLevel(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(3))
	d.Manifest.Plan.Objectives = []record.Objective{
		{Metric: v1alpha1.ObjectiveThroughput, Min: "1"},
		{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedThroughput, Min: "0.1"},
		{Metric: v1alpha1.ObjectiveServerCPUs, Max: "2", Implementations: []string{"epoll"}, Load: "sweep", Connections: 10},
		{Metric: v1alpha1.ObjectiveServerCPUs, Max: "2", Load: "gone"},
	}
	table := analysed(t, d)
	counts := map[int]int{}
	for _, o := range table.Objectives {
		counts[o.Index]++
	}
	// Two contenders at four levels; one non-baseline contender at four; one named limit; nothing.
	if counts[0] != 8 || counts[1] != 4 || counts[2] != 1 || counts[3] != 1 {
		t.Errorf("entries by objective: %v", counts)
	}
	if met, reason := table.ObjectivesMet(); met || reason != v1alpha1.ReasonObjectivesUndecided {
		t.Errorf("an objective that applies to nothing passes: %v %s", met, reason)
	}
}

func TestWhatFollowsFromObjectives(t *testing.T) {
	for name, tc := range map[string]struct {
		bounds []string
		want   string
	}{
		"none":                     {nil, v1alpha1.ReasonDone},
		"all met":                  {[]string{"1", "2"}, v1alpha1.ReasonDone},
		"one undecided":            {[]string{"1", "81500"}, v1alpha1.ReasonObjectivesUndecided},
		"one missed, one not sure": {[]string{"81500", "9000000"}, v1alpha1.ReasonObjectivesMissed},
	} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.Duel(10)
			o.Levels, o.Seconds = []int32{100}, 1
			d := recordtest.Run(o)
			for _, b := range tc.bounds {
				d.Manifest.Plan.Objectives = append(d.Manifest.Plan.Objectives, record.Objective{Metric: "Throughput", Min: b, Load: "sweep", Connections: 100, Implementations: []string{"go"}})
			}
			met, reason := analysed(t, d).ObjectivesMet()
			if reason != tc.want || met != (tc.want == v1alpha1.ReasonDone) {
				t.Errorf("met %v %s, want %s", met, reason, tc.want)
			}
		})
	}
}

func analysed(t *testing.T, d record.RunData) analysis.Table {
	t.Helper()
	got, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnObjectiveMayCountDisturbedCells(t *testing.T) {
	busy := cells("go-slow", 10, func(_ *record.CellRun, seen *record.CellObservation) {
		seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/4
	})
	ratio := record.Objective{
		Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedThroughput, Implementations: []string{"go-slow"}, Max: "2",
	}
	for name, tc := range map[string]struct {
		grade   v1alpha1.Grade
		max     string
		outcome objectives.Outcome
		reason  objectives.Reason
	}{
		"not by default":                        {"", "2", objectives.Undecided, objectives.TooFewBlocks},
		"if it permits them":                    {v1alpha1.GradeIndicated, "2", objectives.Met, objectives.Indicated},
		"unless their noise contains its bound": {v1alpha1.GradeIndicated, "0.9", objectives.Undecided, objectives.TooFewBlocks},
	} {
		t.Run(name, func(t *testing.T) {
			ratio.Grade, ratio.Max = tc.grade, tc.max
			if got := judged(t, ratio, busy); got.Outcome != tc.outcome || got.Reason != tc.reason {
				t.Errorf("%s with reason %q (%+v), want %s with %q", got.Outcome, got.Reason, got, tc.outcome, tc.reason)
			}
		})
	}
}
