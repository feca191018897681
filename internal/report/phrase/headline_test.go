package phrase_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func TestTheTitleSaysWhyNobodyCanBeCompared(t *testing.T) {
	nothing := func(change func(*analysis.HeadlineEntry)) analysis.HeadlineEntry {
		return entry(func(e *analysis.HeadlineEntry) {
			e.Verdict, e.Reason, e.Blocks, e.Ratio = verdict.Inconclusive, verdict.TooFewBlocks, 0, nil
			change(e)
		})
	}
	for name, tc := range map[string]struct {
		of   analysis.HeadlineEntry
		want string
	}{
		"at some level": {
			nothing(func(e *analysis.HeadlineEntry) { e.Fewest = &record.Point{Load: "sweep", Connections: 10} }),
			"Inconclusive: no block has a usable cell of both go2 and go at sweep-10",
		},
		"under some load": {
			nothing(func(e *analysis.HeadlineEntry) {
				e.Loads = []verdict.LoadVerdict{{Load: "sweep", Weight: 0.25, Verdict: verdict.Better}}
			}),
			"Inconclusive: under some load, no block has a usable cell of both go2 and go",
		},
		"in a search": {
			nothing(func(e *analysis.HeadlineEntry) { e.Metric = verdict.Capacity }),
			"Inconclusive: no block has a sustained rate for both go2 and go",
		},
		"since neither keeps a rate": {
			entry(func(e *analysis.HeadlineEntry) {
				e.Verdict, e.Reason, e.Unsustained = verdict.Inconclusive, verdict.NeitherSustained, []record.Point{{Load: "a", Connections: 1}, {Load: "b", Connections: 2}}
			}),
			"Neither go2 nor go sustains the rate of a-1 and b-2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := phrase.English.OutcomeOf(analysis.Headline{Rules: rules}, tc.of, func(v verdict.Winner) string { return v.Name() })
			if got.Title != tc.want {
				t.Errorf("got  %s\nwant %s", got.Title, tc.want)
			}
		})
	}
}

func TestWhatSearchesFoundIsSaidTogether(t *testing.T) {
	peak := func(name string, bound bool) analysis.Peak {
		return analysis.Peak{
			Implementation: name, Point: record.Point{Load: "search"}, Sustained: true, IsBound: bound, Percentile: 99, MaxMilliseconds: 20,
			Throughput: inference.Summary{N: 3, Mean: 4850},
		}
	}
	h := analysis.Headline{Peaks: []analysis.Peak{peak("go", false), peak("go2", true), {Implementation: "go", Point: record.Point{Load: "sweep"}}}}
	if got := phrase.English.Found(h, "search"); got != "At p99 ≤ 20 ms, go sustains 4,850 requests/s, go2 sustains at least 4,850 requests/s" {
		t.Error(got)
	}
	if got := phrase.English.Found(h, "sweep"); got != "" {
		t.Error(got)
	}
}
