package lint_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/cli/lint"
)

// TestRecordedOutputIsJudged expects exactly the known findings of each recorded file.
func TestRecordedOutputIsJudged(t *testing.T) {
	type findings = map[validity.Code][]int
	tests := map[string]struct {
		verdict validity.Validity
		want    findings
	}{
		"wrk-steady.txt":  {validity.Valid, findings{}},
		"wrk-good.txt":    {validity.Suspect, findings{lint.Inflated: {0}}},
		"wrk-500.txt":     {validity.Void, findings{validity.WrongStatus: {0}, lint.Inflated: {0}}},
		"wrk-drop.txt":    {validity.Void, findings{lint.FailedRequests: {0}, lint.Inflated: {0}}},
		"wrk-refused.txt": {validity.Void, findings{validity.ToolFailed: {0}}},
		"wrk-hang.txt": {validity.Void, findings{
			lint.FailedRequests: {0}, validity.Starved: {0}, lint.Stalled: {0}, validity.TooFewRequests: {0}, lint.UnaccountedTime: {0},
		}},
		"wrk-sweep.txt": {validity.Suspect, findings{
			lint.NoRepeats: {0, 1, 2, 3, 4}, lint.Inflated: {0, 1, 4}, lint.Saturated: {1, 2, 3, 4},
		}},
		"ab-steady.txt":    {validity.Valid, findings{lint.CoarseLatency: {0}}},
		"ab-keepalive.txt": {validity.Suspect, findings{validity.TooShort: {0}, lint.CoarseLatency: {0}}},
		"ab-short.txt":     {validity.Void, findings{validity.TooShort: {0}, lint.CoarseLatency: {0}}},
		"ab-500.txt":       {validity.Void, findings{validity.WrongStatus: {0}, validity.TooShort: {0}, lint.CoarseLatency: {0}}},
		"ab-length.txt":    {validity.Void, findings{lint.WrongLength: {0}, lint.CoarseLatency: {0}}},
		"ab-hang.txt":      {validity.Void, findings{validity.ToolFailed: {0}}},
		"k6-closed.txt":    {validity.Valid, findings{}},
		"k6-export.json":   {validity.Valid, findings{}},
		"k6-err.txt":       {validity.Void, findings{lint.FailedRequests: {0}, lint.ChecksFailed: {0}}},
		"k6-open.txt": {validity.Void, findings{
			lint.RateNotReached: {0}, lint.ThresholdsCrossed: {0}, validity.TooFewRequests: {0},
		}},
		"k6-open-legacy.txt": {validity.Void, findings{
			lint.RateNotReached: {0}, lint.ThresholdsCrossed: {0}, validity.TooFewRequests: {0},
		}},
		"k6-handle-summary.json": {validity.Valid, findings{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := lint.Analyse(parseText(t, name, readText(t, name)), nil)
			wantFindings(t, tc.want, r.Findings)
			if r.Verdicts[0] != tc.verdict {
				t.Errorf("verdict %s, want %s", r.Verdicts[0], tc.verdict)
			}
		})
	}
}

func TestErrorsFasterThanAnswersAreVoidAsAWin(t *testing.T) {
	samples := append(parseText(t, "good.txt", readText(t, "wrk-good.txt")), parseText(t, "errors.txt", readText(t, "wrk-500.txt"))...)
	if got := lines(lint.Judge(samples))[lint.ErrorsWin]; len(got) != 1 || got[0] != 1 {
		t.Errorf("ErrorsWin names %v, want the second sample", got)
	}
}
