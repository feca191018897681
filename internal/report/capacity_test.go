package report_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/capacity"
	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/search"
	"loadstone.dev/loadstone/internal/verdict"
)

// searched is a run of which the only load is a search, with steps of every worth.
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
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: record.ObjectiveCapacity, Load: recordtest.SearchLoad, Min: "400"}}
	return d
}

func TestHTMLShowsTheCapacity(t *testing.T) {
	out := string(html(t, searched(7)))
	for name, want := range map[string]string{
		"the bound":            "p99 from the intended start ≤ 20 ms, no errors, with up to 50 connections",
		"what to care about":   "capacity: steps of the search",
		"the outcomes":         "7 found the boundary",
		"a disturbed boundary": "1 disturbed at the boundary",
		"a step that was kept": "step 1: 100 requests/s, kept.",
		"a step that missed":   "requests/s, missed.",
		"the verdict":          "sustains more",
		"the headline":         "gohttp.",
		"the objective":        "≥ 400/s",
		"what a tool said":     "reading k6&#39;s output: &#34;&gt;",
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
	for name, tc := range map[string]struct {
		change func(*capacity.Capacity)
		want   string
	}{
		"no rate was missed":   {func(c *capacity.Capacity) { c.NotReached = 2 }, "2 missed no rate"},
		"no rate was kept":     {func(c *capacity.Capacity) { c.BelowStart = 2 }, "2 kept no rate"},
		"nothing was tried":    {func(c *capacity.Capacity) { c.NotTried = 2 }, "2 tried none"},
		"nothing can be used":  {func(c *capacity.Capacity) { c.Unusable = 2 }, "2 void"},
		"nothing was measured": {func(c *capacity.Capacity) { *c = capacity.Capacity{Load: c.Load, Missing: 7} }, "7 missing"},
		"the generator's limit": {func(c *capacity.Capacity) {
			c.Trials = []capacity.Trial{{Result: search.Found, Bound: capacity.GeneratorLimited}}
		}, "1 found the limit of the generator"},
		"a verdict against": {func(c *capacity.Capacity) {
			c.ToBaseline = &verdict.Result{Metric: verdict.Capacity, Ratio: ptr(0.5), Verdict: verdict.Worse}
		}, "sustains less"},
		"bounds alone": {func(c *capacity.Capacity) {
			c.ToBaseline = &verdict.Result{Metric: verdict.Capacity, Blocks: 7, Ratio: ptr(0.5), Verdict: verdict.Inconclusive, Reason: verdict.BoundsOnly}
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

func TestLineOfSearches(t *testing.T) {
	kept := func(change func(*analysis.HeadlineEntry)) analysis.HeadlineEntry {
		return entry(func(e *analysis.HeadlineEntry) {
			e.Implementation, e.Baseline, e.Metric, e.Load = "epoll", "gohttp", verdict.Capacity, "capacity"
			change(e)
		})
	}
	for name, tc := range map[string]struct {
		change func(*analysis.HeadlineEntry)
		want   string
	}{
		"more":             {func(e *analysis.HeadlineEntry) { e.Verdict = verdict.Better }, "epoll sustains a rate 21.3 % above that of gohttp (99 % interval +17.1 % to +25.0 %, 10 blocks)"},
		"at least so much": {func(e *analysis.HeadlineEntry) { e.Verdict, e.AtLeast = verdict.Better, true }, "epoll sustains a rate at least 21.3 % above that of gohttp (99 % interval >= +17.1 %, 10 blocks)"},
		"at most a part of it": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.AtLeast, e.Ratio, e.Low, e.High = verdict.Worse, true, ptr(0.6), ptr(0.5), ptr(0.7)
			},
			"epoll sustains a rate at least 40.0 % below that of gohttp (99 % interval <= -30.0 %, 10 blocks)",
		},
		"no difference": {
			func(e *analysis.HeadlineEntry) { e.Verdict = verdict.NoDifference },
			"epoll and gohttp sustain the same rate within 5 % (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks)",
		},
		"too few blocks": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.FewestPairs, e.Low, e.High = verdict.Inconclusive, verdict.TooFewBlocks, 2, 2, nil, nil
			},
			"Inconclusive: epoll may or may not differ from gohttp in sustained rate (+21.3 %, 2 blocks: a verdict needs 7 blocks, and this run has 2)",
		},
		"bounds alone": {
			func(e *analysis.HeadlineEntry) { e.Verdict, e.Reason = verdict.Inconclusive, verdict.BoundsOnly },
			"Inconclusive: epoll may or may not differ from gohttp in sustained rate (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks: the rates are only lower bounds: no step missed, or it was not the server that did)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := report.Line(analysis.Headline{Rules: rules, Entries: []analysis.HeadlineEntry{kept(tc.change)}}); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	alone := analysis.Peak{Implementation: "gohttp", Throughput: inference.Summary{N: 3, Mean: 4850}, IsBound: true, Kept: true, Percentile: 99, MaxMilliseconds: 20}
	if got := report.Line(analysis.Headline{Rules: rules, Peaks: []analysis.Peak{alone}}); got != "nothing to compare; gohttp sustains at least 4,850 requests/s at p99 <= 20 ms (mean of 3)" {
		t.Error(got)
	}
	two := []analysis.HeadlineEntry{kept(func(e *analysis.HeadlineEntry) { e.Verdict = verdict.Better }), kept(func(e *analysis.HeadlineEntry) { e.Verdict, e.Load = verdict.Better, "tight" })}
	if got := report.Line(analysis.Headline{Rules: rules, Entries: two}); !strings.HasPrefix(got, "Load capacity: epoll sustains ") || !strings.Contains(got, "; Load tight: epoll sustains ") {
		t.Error(got)
	}
}
