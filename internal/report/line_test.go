package report_test

import (
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/stats"
)

func ptr(v float64) *float64 { return &v }

var rules = stats.Rules{Alpha: 0.01, Confidence: 0.99, Power: 0.8, MinBlocks: 7, EquivalenceMargin: 0.05}

func entry(change func(*stats.HeadlineEntry)) stats.HeadlineEntry {
	e := stats.HeadlineEntry{
		Implementation: "go2", Baseline: "go", Metric: stats.CPUPerRequest, Blocks: 10, Levels: 1,
		Ratio: ptr(1.213), Low: ptr(1.171), High: ptr(1.25), Factor: ptr(1.213), FactorLow: ptr(1.171), FactorHigh: ptr(1.25),
	}
	change(&e)
	return e
}

func TestLine(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*stats.HeadlineEntry)
		want   string
	}{
		"slower": {
			func(e *stats.HeadlineEntry) { e.Verdict = stats.Slower },
			"go2 is 1.21x slower than go (99 % interval 1.17-1.25, CPU time per request, one level, 10 blocks)",
		},
		"faster over several levels": {
			func(e *stats.HeadlineEntry) { e.Verdict, e.Levels, e.Metric = stats.Faster, 4, stats.Throughput },
			"go2 is 1.21x faster than go (99 % interval 1.17-1.25, throughput, mean of 4 levels, 10 blocks)",
		},
		"no difference": {
			func(e *stats.HeadlineEntry) { e.Verdict = stats.NoDifference },
			"go2 and go do not differ by more than 5 %: go2/go 1.21x (99 % interval 1.17-1.25, CPU time per request, one level, 10 blocks)",
		},
		"too few blocks": {
			func(e *stats.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks = stats.Inconclusive, stats.TooFewBlocks, 2
			},
			"inconclusive: 2 of 7 blocks needed; go2/go 1.21x observed (CPU time per request)",
		},
		"too much noise": {
			func(e *stats.HeadlineEntry) {
				e.Verdict, e.Reason, e.BlocksNeeded = stats.Inconclusive, stats.NoiseTooHigh, 23
			},
			"inconclusive: go2/go 1.21x (99 % interval 1.17-1.25, CPU time per request, one level, 10 blocks) may be chance; about 23 blocks would decide",
		},
		"a winner with faults": {
			func(e *stats.HeadlineEntry) { e.Verdict, e.Reason = stats.Inconclusive, stats.OwnFaults },
			"inconclusive: go2/go 1.21x (99 % interval 1.17-1.25, CPU time per request, one level, 10 blocks): the better side failed in some cells",
		},
		"nothing in common": {
			func(e *stats.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.Ratio = stats.Inconclusive, stats.TooFewBlocks, 0, nil
			},
			"inconclusive: go2 and go have no block in common",
		},
		"nothing in common since nothing can be believed": {
			func(e *stats.HeadlineEntry) {
				e.Verdict, e.Reason, e.Blocks, e.Ratio = stats.Inconclusive, stats.TooFewBlocks, 0, nil
				e.Cells, e.VoidCells, e.VoidReasons = 8, 8, []stats.ReasonCode{stats.Strangers, stats.NotPinned}
			},
			"inconclusive: go2 and go have no block in common: 8 of 8 cells are void (Strangers, NotPinned)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := report.Line(stats.Headline{Rules: rules, Entries: []stats.HeadlineEntry{entry(tc.change)}})
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestLineOfARunThatComparesNothing(t *testing.T) {
	got := report.Line(stats.Headline{Rules: rules, Peaks: []stats.Peak{{Implementation: "go", Point: record.Point{Connections: 100}, Throughput: stats.Summary{N: 3, Mean: 88123}, IsBound: true}}})
	if want := "nothing to compare; go: at least 88,123 requests/s at 100 connections (mean of 3)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = report.Line(stats.Headline{Rules: rules, PlannedTrials: 4})
	if want := "no verdict: 0 of 4 trials were measured and none gave a number"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLineFitsIntoAStatus(t *testing.T) {
	for n := 1; n <= 15; n++ {
		h := stats.Headline{Rules: rules}
		for i := range n {
			h.Entries = append(h.Entries, entry(func(e *stats.HeadlineEntry) {
				e.Implementation, e.Baseline, e.Verdict = fmt.Sprintf("an-implementation-%02d", i), "some-baseline-server", stats.Slower
			}))
		}
		got := report.Line(h)
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
