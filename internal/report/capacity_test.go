package report_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/trial/search"
)

// searched is a run with one search, with all kinds of steps.
func searched(blocks int32) record.RunData {
	d := recordtest.Search(recordtest.Options{
		Name: "capacity", Seed: 5, Blocks: blocks, Noise: 0.03, Seconds: 1,
		Servers: []recordtest.Server{{Name: "gohttp", CPUMicros: 2000}, {Name: "epoll", CPUMicros: 1000}},
	}, record.Search{Percentile: 99, MaxMilliseconds: 20, StartRequestsPerSecond: 100, Steps: 8})
	seen := &d.Trials[0].Servers[0].Cells[0]
	seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/2
	for _, t := range d.Trials {
		for k := range t.Generators[0].Cells {
			run := &t.Generators[0].Cells[k]
			if t.Manifest.Block == blocks && t.Manifest.Servers[0] == "epoll" && run.Measurement.Dropped > 0 {
				run.Measurement, run.Error = nil, "reading k6's output: "+hostile
			}
		}
	}
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectiveCapacity, Load: recordtest.SearchLoad, Min: "400"}}
	return d
}

func TestHTMLShowsTheCapacity(t *testing.T) {
	out := string(html(t, searched(7)))
	for name, want := range map[string]string{
		"the bound":                 "p99 from the intended start ≤ 20 ms, no errors, with up to 50 connections",
		"what to care about":        "capacity: search steps",
		"the outcomes":              "7 found the boundary",
		"a disturbed boundary":      "1 disturbed at the boundary",
		"a step that met the bound": "step 1: 100 requests/s, met.",
		"a step that missed":        "requests/s, missed.",
		"the verdict":               "sustains more",
		"the headline":              "gohttp.",
		"the objective":             "≥ 400/s",
		"what a tool said":          "reading k6&#39;s output: &#34;&gt;",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not shown: no %q", name, want)
		}
	}
	for _, absent := range []string{"Level by level", "All numbers", "Every cell"} {
		if strings.Contains(out, absent) {
			t.Errorf("a run without levels has a section %q", absent)
		}
	}
}

func TestEveryOutcomeOfASearchHasItsWords(t *testing.T) {
	half := 0.5
	for name, tc := range map[string]struct {
		change func(*capacity.Capacity)
		want   string
	}{
		"no rate was missed":    {func(c *capacity.Capacity) { c.NotReached = 2 }, "2 missed no rate"},
		"no rate was sustained": {func(c *capacity.Capacity) { c.BelowStart = 2 }, "2 sustained no rate"},
		"nothing was tried":     {func(c *capacity.Capacity) { c.NotTried = 2 }, "2 tried no rate"},
		"nothing can be used":   {func(c *capacity.Capacity) { c.Unusable = 2 }, "2 void"},
		"nothing was measured":  {func(c *capacity.Capacity) { *c = capacity.Capacity{Load: c.Load, Missing: 7} }, "7 missing"},
		"the generator's limit": {func(c *capacity.Capacity) {
			c.Trials = []capacity.Trial{{Result: search.Found, Bound: capacity.GeneratorLimited}}
		}, "1 generator-bound"},
		"a verdict against": {func(c *capacity.Capacity) {
			c.ToBaseline = &verdict.Result{Metric: verdict.Capacity, Ratio: &half, Verdict: verdict.Worse}
		}, "sustains less"},
		"bounds alone": {func(c *capacity.Capacity) {
			c.ToBaseline = &verdict.Result{Metric: verdict.Capacity, Blocks: 7, Ratio: &half, Verdict: verdict.Inconclusive, Reason: verdict.BoundsOnly}
		}, "the rates are only lower bounds"},
	} {
		t.Run(name, func(t *testing.T) {
			table := analyse(t, searched(3))
			tc.change(&table.Capacities[1])
			out, err := report.HTML(table)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), tc.want) || strings.Contains(string(out), "!(") {
				t.Errorf("no %q", tc.want)
			}
		})
	}
}
