package phrase_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/phrase"
)

func missed(change func(*objectives.Result)) objectives.Result {
	o := objectives.Result{
		Metric: v1alpha1.ObjectiveLatencyPercentile, Percentile: "99", Point: record.Point{Load: "sweep", Connections: 10}, Implementation: "go",
		Max: ptr(1000), Value: ptr(1500), Outcome: objectives.Missed,
	}
	change(&o)
	return o
}

func TestTheGateSaysWhatMissedMost(t *testing.T) {
	worst := missed(func(*objectives.Result) {})
	named := missed(func(o *objectives.Result) {
		o.Name, o.Metric, o.Min, o.Max = "fast enough", v1alpha1.ObjectiveThroughput, ptr(2000), nil
	})
	unknown := missed(func(o *objectives.Result) { o.Value = nil })
	for name, tc := range map[string]struct {
		of   analysis.Gate
		want []string
	}{
		"all are met":             {analysis.Gate{Met: 3}, []string{"PASSED: 3 of 3 objective checks met", ""}},
		"some are undecided":      {analysis.Gate{Met: 2, Undecided: 1}, []string{"NOT PASSED: 1 of 3 objective checks undecided", ""}},
		"some are missed":         {analysis.Gate{Met: 2, Missed: 1, Worst: &worst}, []string{"FAILED: 1 of 3 objective checks missed", "worst miss: p99 latency of go at sweep-10: 1.50 ms, must be at most 1.00 ms"}},
		"both, by its name":       {analysis.Gate{Missed: 1, Undecided: 2, Worst: &named}, []string{"FAILED: 1 of 3 objective checks missed (2 undecided)", "worst miss: fast enough of go at sweep-10: 1,500/s, must be at least 2,000/s"}},
		"a figure is not known":   {analysis.Gate{Missed: 1, Worst: &unknown}, []string{"FAILED: 1 of 1 objective checks missed", "worst miss: p99 latency of go at sweep-10: –, must be at most 1.00 ms"}},
		"there was nothing to do": {analysis.Gate{}, []string{"PASSED: 0 of 0 objective checks met", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			title, worst := phrase.English.Gate(&tc.of)
			if diff := cmp.Diff(tc.want, []string{title, worst}); diff != "" {
				t.Errorf("title and worst (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLineOfObjectives(t *testing.T) {
	for name, tc := range map[string]struct {
		of   []objectives.Result
		want string
	}{
		"what was missed in a case": {
			[]objectives.Result{missed(func(o *objectives.Result) {
				o.Metric, o.Percentile, o.Point, o.Case = v1alpha1.ObjectiveCaseTime, "", record.Point{}, "copy/size:8"
			})},
			"1 of 1 objectives missed; time per operation of go at copy/size:8 is 1,500 ns, max 1,000 ns",
		},
		"what was missed of a ratio of cases": {
			[]objectives.Result{missed(func(o *objectives.Result) {
				o.Metric, o.Percentile, o.Point, o.Case = v1alpha1.ObjectiveRatioToBaseline, "", record.Point{}, "copy"
				o.Of, o.Max, o.Value = v1alpha1.ComparedCaseAllocations, ptr(1), ptr(1.5)
			})},
			"1 of 1 objectives missed; ratio to the baseline of allocations per operation of go at copy is +50.0 %, max 0.0 %",
		},
		"what was missed": {
			[]objectives.Result{missed(func(*objectives.Result) {}), missed(func(o *objectives.Result) { o.Outcome = objectives.Undecided })},
			"1 of 2 objectives missed; p99 latency of go at sweep-10 is 1.50 ms, max 1.00 ms",
		},
		"what is undecided, and why": {
			[]objectives.Result{missed(func(o *objectives.Result) { o.Outcome, o.Reason = objectives.Undecided, objectives.IntervalStraddles })},
			"1 of 1 objectives undecided; p99 latency of go at sweep-10 is 1.50 ms, max 1.00 ms (IntervalStraddles)",
		},
		"what is not known": {
			[]objectives.Result{missed(func(o *objectives.Result) {
				o.Outcome, o.Reason, o.Value = objectives.Undecided, objectives.NotMeasured, nil
			})},
			"1 of 1 objectives undecided; p99 latency of go at sweep-10 is not known (NotMeasured), max 1.00 ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := phrase.English.ObjectivesLine(analysis.Table{Objectives: tc.of}); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	many := make([]objectives.Result, 20)
	for k := range many {
		many[k] = missed(func(o *objectives.Result) { o.Name = strings.Repeat("n", 40) })
	}
	if got := phrase.English.ObjectivesLine(analysis.Table{Objectives: many}); len(got) > 512 || !strings.HasSuffix(got, " more in the report") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestTheNoiseFloorIsSaidWhereTheMachineIsKnown(t *testing.T) {
	floor := &record.Calibration{
		Run: record.Run{UID: "1"}, Ended: time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC), Blocks: 10,
		Entries: []record.Noise{{Metric: string(verdict.Throughput), N: 21, Detectable: 0.047}, {Metric: string(verdict.CPUPerRequest), N: 20, Detectable: 0.03}},
	}
	for name, tc := range map[string]struct {
		of   analysis.Table
		want string
	}{
		"an unknown machine": {analysis.Table{NoiseFloor: floor}, ""},
		"no A/A run":         {analysis.Table{Fingerprint: "f"}, phrase.English.Say("noise.none")},
		"an A/A run whose processes shared CPUs": {
			analysis.Table{Fingerprint: "f", NoiseFloorUnpinned: 12},
			"The noise floor of this machine is unknown: this run compares a server with itself, but in 12 cells a server or generator did not own its CPUs.",
		},
		"an A/A run": {
			analysis.Table{Fingerprint: "f", NoiseFloor: floor},
			"Noise floor of this machine (A/A of 2026-03-14, n = 21): a difference of 4.70 % in throughput or 3.00 % in server CPU time per request is found in 80 % of runs at one level with 10 blocks.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := phrase.English.NoiseFloor(tc.of); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	own := analysis.Table{NoiseFloor: floor}
	own.Run.UID = "1"
	if got := phrase.English.NoiseLine(own); got != "noise floor (A/A of 2026-03-14, n = 21): 4.70 % in throughput, 3.00 % in server CPU time per request, for runs of 10 blocks" {
		t.Error(got)
	}
	if got := phrase.English.Calibration(analysis.Headline{Calibration: floor}); got != "This machine finds differences of 4.70 % in throughput and 3.00 % in server CPU time per request at one level with 10 blocks, in 80 % of runs" {
		t.Error(got)
	}
}
