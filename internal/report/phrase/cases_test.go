package phrase

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
)

func TestTheSentenceOfCases(t *testing.T) {
	ratio, low, high := 0.8, 0.75, 0.85
	largest := &verdict.RowComparison{Case: "copy", Result: &verdict.Result{Metric: "Time", Verdict: verdict.Better, Blocks: 10, Ratio: &ratio, Low: &low, High: &high}}
	for name, tc := range map[string]struct {
		outcome        analysis.CaseOutcome
		title, largest string
	}{
		"one case": {
			analysis.CaseOutcome{Cases: 1, Better: 1, Processes: 20, Largest: largest},
			"new against old in copy: better, −20.0 % Time (interval −25.0 % to −15.0 %, 10 blocks)", "",
		},
		"one case without a winner": {
			analysis.CaseOutcome{Cases: 1, Undecided: 1, Processes: 20},
			"new against old, of 1 case: 0 better, 0 worse, 0 practically equivalent, 1 inconclusive", "",
		},
		"two cases": {
			analysis.CaseOutcome{Cases: 2, Better: 2, Processes: 20, Largest: largest},
			"new against old, of 2 cases: 2 better, 0 worse, 0 practically equivalent, 0 inconclusive", "most in copy: −20.0 % Time (−25.0 % to −15.0 %)",
		},
		"many cases, and no winner": {
			analysis.CaseOutcome{Cases: 1200, Same: 1000, Undecided: 200, Processes: 20},
			"new against old, of 1,200 cases: 0 better, 0 worse, 1,000 practically equivalent, 200 inconclusive", "",
		},
		"void processes": {
			analysis.CaseOutcome{Cases: 2, Worse: 2, Processes: 20, VoidProcesses: 3},
			"new against old, of 2 cases: 0 better, 2 worse, 0 practically equivalent, 0 inconclusive, void: 3 of 20 processes", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.outcome.Implementation, tc.outcome.Baseline = "new", "old"
			title, largest := English.Cases(tc.outcome)
			if title != tc.title || largest != tc.largest {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", title, largest, tc.title, tc.largest)
			}
		})
	}
}
