package phrase_test

import (
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func ptr(v float64) *float64 { return &v }

var rules = analysis.Rules{Alpha: 0.01, Confidence: 0.99, Power: 0.8, MinBlocks: 7, EquivalenceMargin: 0.05}

func entry(change func(*analysis.HeadlineEntry)) analysis.HeadlineEntry {
	e := analysis.HeadlineEntry{
		Implementation: "go2", Baseline: "go", Metric: verdict.CPUPerRequest, Blocks: 10, FewestPairs: 10, Levels: 1,
		Ratio: ptr(1.213), Low: ptr(1.171), High: ptr(1.25),
	}
	change(&e)
	return e
}

func TestLine(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*analysis.HeadlineEntry)
		want   string
	}{
		"who needs more CPU time": {
			func(e *analysis.HeadlineEntry) { e.Verdict = verdict.Worse },
			"go2 uses 21.3 % more CPU time per request than go (99 % interval +17.1 % to +25.0 %, 10 blocks)",
		},
		"who needs a multiple": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Ratio, e.Low, e.High = verdict.Worse, ptr(2.8), ptr(2.71), ptr(2.9)
			},
			"go2 uses 2.80x the CPU time per request of go (99 % interval 2.71x to 2.90x, 10 blocks)",
		},
		"who needs very little less is not 1.00x faster": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Ratio, e.Low, e.High = verdict.Better, ptr(0.997), ptr(0.995), ptr(0.999)
			},
			"go2 uses 0.3 % less CPU time per request than go (99 % interval -0.5 % to -0.1 %, 10 blocks)",
		},
		"throughput over several levels": {
			func(e *analysis.HeadlineEntry) { e.Verdict, e.Levels, e.Metric = verdict.Better, 4, verdict.Throughput },
			"go2 has 21.3 % higher throughput than go (99 % interval +17.1 % to +25.0 %, mean of 4 levels, 10 blocks)",
		},
		"another metric beside": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict = verdict.Worse
				e.OtherMetrics = []verdict.Winner{{Metric: verdict.LatencyAt("50"), Verdict: verdict.Worse, Ratio: ptr(2), Low: ptr(1.8), High: ptr(2.2)}}
			},
			"go2 uses 21.3 % more CPU time per request than go (99 % interval +17.1 % to +25.0 %, 10 blocks); go2 has 2.00x the p50 latency of go (99 % interval 1.80x to 2.20x)",
		},
		"a difference that noise cannot explain": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason = verdict.Inconclusive, verdict.TooFewBlocks
				e.Indicated = &verdict.Indication{
					Verdict: verdict.Better, Metric: verdict.Throughput, Ratio: 9.7, Low: 3.2, High: 29, Levels: 1, Blocks: 7, Cells: 14, Void: 12, Reasons: []validity.Code{validity.NoisyNeighbours},
				}
			},
			"Indicated, not proved: go2 has 9.70x the throughput of go (99 % interval 3.20x to 29.00x, 7 blocks: 12 of 14 cells were disturbed (NoisyNeighbours); the interval contains all that this can explain)",
		},
		"no difference": {
			func(e *analysis.HeadlineEntry) { e.Verdict = verdict.NoDifference },
			"go2 and go are practically equivalent in CPU time per request, within 5 % (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks)",
		},
		"levels with different winners": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Levels, e.Metric = verdict.DependsOnLoad, 2, verdict.Throughput
				e.Decided = []verdict.Winner{
					{Point: record.Point{Load: "sweep", Connections: 10}, Verdict: verdict.Better, Metric: verdict.Throughput, Ratio: ptr(1.3)},
					{Point: record.Point{Load: "sweep", Connections: 100}, Verdict: verdict.Worse, Metric: verdict.Throughput, Ratio: ptr(0.77)},
				}
			},
			"Whether go2 is better than go depends on the load (throughput +21.3 %, 99 % interval +17.1 % to +25.0 %, mean of 2 levels, 10 blocks): " +
				"sweep-10: go2 has 30.0 % higher throughput than go, sweep-100: go2 has 23.0 % lower throughput than go",
		},
		"some of the cells are suspect": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.UsedCells, e.SuspectCells, e.SuspectReasons = verdict.Worse, 20, 5, []validity.Code{validity.SlowedDown, validity.WarmupNotOver}
			},
			"go2 uses 21.3 % more CPU time per request than go (99 % interval +17.1 % to +25.0 %, 10 blocks, 5 of 20 used cells suspect (SlowedDown, WarmupNotOver))",
		},
		"all of the cells are suspect": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.UsedCells, e.SuspectCells, e.SuspectReasons = verdict.Inconclusive, verdict.SuspectCells, 20, 20, []validity.Code{validity.StoodStill}
			},
			"Inconclusive: go2 may or may not differ from go in server CPU time per request (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks, 20 of 20 used cells suspect (StoodStill): " +
				"every cell of a side is suspect)",
		},
		"a level decided with an interval": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Levels, e.Metric = verdict.DependsOnLoad, 2, verdict.Throughput
				e.Decided = []verdict.Winner{{
					Point: record.Point{Load: "sweep", Connections: 10}, Verdict: verdict.Better, Metric: verdict.Throughput, Ratio: ptr(1.3), Low: ptr(1.2), High: ptr(1.4), Blocks: 9,
				}}
			},
			"Whether go2 is better than go depends on the load (throughput +21.3 %, 99 % interval +17.1 % to +25.0 %, mean of 2 levels, 10 blocks): " +
				"sweep-10: go2 has 30.0 % higher throughput than go (99 % interval +20.0 % to +40.0 %, 9 blocks)",
		},
		"a mean that a load contradicts": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Main, e.More = verdict.Mixed, verdict.Worse, 2
				e.Seconds = []verdict.Winner{{
					Point: record.Point{Load: "api"}, Verdict: verdict.Better, Metric: verdict.CPUPerRequest, Ratio: ptr(0.8), Low: ptr(0.7), High: ptr(0.9), Blocks: 10,
				}}
			},
			"Mixed: go2 uses 21.3 % more CPU time per request than go (99 % interval +17.1 % to +25.0 %, 10 blocks), " +
				"but under load api go2 uses 20.0 % less CPU time per request than go (99 % interval -30.0 % to -10.0 %, 10 blocks) and 2 more differences",
		},
		"a winner at one level, and none in the mean": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Levels, e.Ratio, e.Low, e.High, e.SameInTheMean = verdict.DependsOnLoad, 4, ptr(1.013), ptr(0.99), ptr(1.04), true
				e.Decided = []verdict.Winner{{Point: record.Point{Load: "sweep", Connections: 10}, Verdict: verdict.Worse, Metric: verdict.CPUPerRequest, Ratio: ptr(1.05)}}
			},
			"go2 and go differ by no more than 5 % in server CPU time per request on average, but they differ at some levels " +
				"(server CPU time per request +1.3 %, 99 % interval -1.0 % to +4.0 %, mean of 4 levels, 10 blocks): sweep-10: go2 uses 5.0 % more CPU time per request than go",
		},
		"who does not keep a rate": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason = verdict.Worse, verdict.RateNotSustained
				e.Decided = []verdict.Winner{{
					Point: record.Point{Load: "open", Connections: 10, RequestsPerSecond: 2000}, Verdict: verdict.Worse, Reason: verdict.RateNotSustained,
					Rate: &verdict.RateCounts{ContenderMissed: 10, BaselineSustained: 10},
				}}
			},
			"go2 does not sustain the rate of open-10-r2000, but go does",
		},
		"too few blocks": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.FewestPairs = verdict.Inconclusive, verdict.TooFewBlocks, 2, 2
			},
			"Inconclusive: go2 may or may not differ from go in server CPU time per request (+21.3 %, 2 blocks: a verdict needs 7 blocks, and this run has 2)",
		},
		"too few blocks at one level": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.FewestPairs, e.Levels = verdict.Inconclusive, verdict.TooFewBlocks, 3, 4
				e.Fewest = &record.Point{Load: "sweep", Connections: 1000}
			},
			"Inconclusive: go2 may or may not differ from go in server CPU time per request (+21.3 %, mean of 4 levels, 10 blocks: a verdict needs 7 blocks at each level, and sweep-1000 has 3)",
		},
		"too much noise": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.BlocksNeeded, e.Low = verdict.Inconclusive, verdict.NoiseTooHigh, 23, ptr(0.95)
			},
			"Inconclusive: go2 may or may not differ from go in server CPU time per request (+21.3 %, 99 % interval -5.0 % to +25.0 %, 10 blocks: the difference may be due to chance; about 23 blocks would decide it with 80 % power if the true difference is the observed one)",
		},
		"brackets too wide": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Bracketed, e.Low = verdict.Inconclusive, verdict.NoiseTooHigh, true, ptr(0.95)
			},
			"Inconclusive: go2 may or may not differ from go in server CPU time per request (+21.3 %, 99 % interval -5.0 % to +25.0 %, 10 blocks: the difference may be due to chance; no number of blocks would decide it: each value is known only within a bracket, and the brackets are wider than the difference)",
		},
		"a winner with faults": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason = verdict.Inconclusive, verdict.ImplementationFailures
			},
			"Inconclusive: go2 or go failed in some cells or trials, so their server CPU time per request gives no verdict (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks: failures are excluded, so what remains flatters the side that failed)",
		},
		"nothing in common": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.Ratio = verdict.Inconclusive, verdict.TooFewBlocks, 0, nil
			},
			"Inconclusive: no block has a usable cell of both go2 and go",
		},
		"nothing in common since nothing can be believed": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.Ratio = verdict.Inconclusive, verdict.TooFewBlocks, 0, nil
				e.Cells, e.VoidCells, e.VoidReasons = 8, 8, []validity.Code{validity.NoisyNeighbours, validity.NotPinned}
			},
			"Inconclusive: no block has a usable cell of both go2 and go (8 of 8 cells are void (NoisyNeighbours, NotPinned))",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := phrase.English.Line(analysis.Headline{Rules: rules, Entries: []analysis.HeadlineEntry{entry(tc.change)}})
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestTheLineBeginsWithTheObjectives(t *testing.T) {
	h := analysis.Headline{Rules: rules, Gate: &analysis.Gate{Met: 6, Missed: 4, Undecided: 10}, Entries: []analysis.HeadlineEntry{entry(func(e *analysis.HeadlineEntry) { e.Verdict = verdict.Worse })}}
	if got := phrase.English.Line(h); !strings.HasPrefix(got, "FAILED: 4 of 20 objective checks missed (10 undecided); go2 uses 21.3 % more") {
		t.Error(got)
	}
	h.Gate = &analysis.Gate{Met: 20}
	if got := phrase.English.Line(h); !strings.HasPrefix(got, "PASSED: 20 of 20 objective checks met; ") {
		t.Error(got)
	}
}

func TestLineOfARunThatComparesNothing(t *testing.T) {
	got := phrase.English.Line(analysis.Headline{Rules: rules, Peaks: []analysis.Peak{{Implementation: "go", Point: record.Point{Connections: 100}, Throughput: inference.Summary{N: 3, Mean: 88123}, IsBound: true}}})
	if want := "nothing to compare; go: at least 88,123 requests/s at 100 connections (mean of 3)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for n, want := range map[int]string{
		1: "1 case was measured, and there is nothing to compare it with", 3: "3 cases were measured, and there is nothing to compare them with",
	} {
		if got := phrase.English.Line(analysis.Headline{Rules: rules, MeasuredTrials: 4, PlannedTrials: 4, AloneCases: n}); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	got = phrase.English.Line(analysis.Headline{Rules: rules, PlannedTrials: 4})
	if want := "no verdict: 0 of 4 trials were measured and none gave a result"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLineSaysWhatProgramsDidNotPrint(t *testing.T) {
	got := phrase.English.Line(analysis.Headline{
		Rules: rules, AloneCases: 3,
		CaseGaps: []analysis.CaseGap{
			{Implementation: "new", Case: "print", Processes: 7},
			{Implementation: "old", Case: "sort", Processes: 1, Failure: "no paper"},
			{Implementation: "new", Case: "sort", Processes: 7},
		},
		Unread:    []analysis.UnreadOutput{{Implementation: "new", Processes: 1, Parts: 1, Block: 1, Unread: record.Unread{Line: 2, Why: "no JSON"}}},
		Unprinted: []analysis.CaseName{{Implementation: "new", CaseName: record.CaseName{Printed: "A", Name: "B"}}},
	})
	want := "3 cases were measured, and there is nothing to compare them with; " +
		"What new printed could not be read as a whole in 1 process (1 part), first in block 1: line 2: no JSON; " +
		"spec.microbenchmark.outputs renames A of new, which printed no such case: correct the name, as the report shows it; " +
		"new did not print the case print (7 processes), and 1 case more like it; The case sort of old gave no value in 1 process: no paper"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLineSaysWhichProfilesWentWrong(t *testing.T) {
	gap := func(g analysis.ProfileGap) string {
		g.Profile, g.Implementation, g.Launches = "memory", "go", 6
		return phrase.English.Line(analysis.Headline{Rules: rules, AloneCases: 3, Profiles: []analysis.ProfileGap{g}})
	}
	const begin = "3 cases were measured, and there is nothing to compare them with; profile memory of go went wrong: "
	for want, g := range map[string]analysis.ProfileGap{
		"valgrind itself failed": {Why: "valgrind itself failed.", Silent: 6},
		"2 of 6 launches never answered rightly: GET / was not answered": {Silent: 2, Unended: 1, Example: "GET / was not answered"},
		"2 of 6 launches exceeded the memory of the pod":                 {Silent: 2, Starved: 2},
		"1 launch did not end when it was told to, and was killed":       {Unended: 1},
	} {
		if got := gap(g); got != begin+want {
			t.Errorf("got  %s\nwant %s", got, begin+want)
		}
	}
}

func TestLineFitsIntoAStatus(t *testing.T) {
	for n := 1; n <= 15; n++ {
		h := analysis.Headline{Rules: rules}
		for i := range n {
			h.Entries = append(h.Entries, entry(func(e *analysis.HeadlineEntry) {
				e.Implementation, e.Baseline, e.Verdict = fmt.Sprintf("an-implementation-%02d", i), "some-baseline-server", verdict.Worse
			}))
		}
		got := phrase.English.Line(h)
		if len(got) > 512 {
			t.Errorf("%d contenders need %d bytes: %s", n, len(got), got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r > 126 || r < 32 }); i >= 0 {
			t.Errorf("byte %d is not ASCII: %s", i, got)
		}
		if n == 15 && !strings.Contains(got, " more") {
			t.Errorf("it does not say that there are more: %s", got)
		}
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
			"epoll and gohttp are practically equivalent in sustained rate, within 5 % (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks)",
		},
		"too few blocks": {
			func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.FewestPairs, e.Low, e.High = verdict.Inconclusive, verdict.TooFewBlocks, 2, 2, nil, nil
			},
			"Inconclusive: epoll may or may not differ from gohttp in sustained rate (+21.3 %, 2 blocks: a verdict needs 7 blocks, and this run has 2)",
		},
		"bounds alone": {
			func(e *analysis.HeadlineEntry) { e.Verdict, e.Reason = verdict.Inconclusive, verdict.BoundsOnly },
			"Inconclusive: epoll may or may not differ from gohttp in sustained rate (+21.3 %, 99 % interval +17.1 % to +25.0 %, 10 blocks: in some blocks the rate is only a lower bound: no step missed its target beyond doubt, or the server was not the cause)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := phrase.English.Line(analysis.Headline{Rules: rules, Entries: []analysis.HeadlineEntry{kept(tc.change)}}); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	alone := analysis.Peak{Implementation: "gohttp", Throughput: inference.Summary{N: 3, Mean: 4850}, IsBound: true, Sustained: true, Percentile: 99, MaxMilliseconds: 20}
	if got := phrase.English.Line(analysis.Headline{Rules: rules, Peaks: []analysis.Peak{alone}}); got != "nothing to compare; gohttp sustains at least 4,850 requests/s at p99 <= 20 ms (mean of 3)" {
		t.Error(got)
	}
	two := []analysis.HeadlineEntry{kept(func(e *analysis.HeadlineEntry) { e.Verdict = verdict.Better }), kept(func(e *analysis.HeadlineEntry) { e.Verdict, e.Load = verdict.Better, "tight" })}
	if got := phrase.English.Line(analysis.Headline{Rules: rules, Entries: two}); !strings.HasPrefix(got, "Load capacity: epoll sustains ") || !strings.Contains(got, "; Load tight: epoll sustains ") {
		t.Error(got)
	}
}
