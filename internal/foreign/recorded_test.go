package foreign_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/foreign"
	"loadstone.dev/loadstone/internal/validity"
)

// TestRecordedOutputIsJudged says of each recorded file what is wrong with it, and nothing else.
func TestRecordedOutputIsJudged(t *testing.T) {
	type findings = map[foreign.Code][]int
	tests := map[string]struct {
		verdict validity.Validity
		want    findings
	}{
		"wrk-steady.txt":  {validity.Valid, findings{}},
		"wrk-good.txt":    {validity.Suspect, findings{foreign.Inflated: {0}}},
		"wrk-500.txt":     {validity.Void, findings{foreign.WrongStatus: {0}, foreign.Inflated: {0}}},
		"wrk-drop.txt":    {validity.Void, findings{foreign.FailedRequests: {0}, foreign.Inflated: {0}}},
		"wrk-refused.txt": {validity.Void, findings{foreign.ToolFailed: {0}}},
		"wrk-hang.txt": {validity.Void, findings{
			foreign.FailedRequests: {0}, foreign.Starved: {0}, foreign.Stalled: {0}, foreign.TooFewRequests: {0}, foreign.UnaccountedTime: {0},
		}},
		"wrk-sweep.txt": {validity.Suspect, findings{
			foreign.NoRepeats: {0, 1, 2, 3, 4}, foreign.Inflated: {0, 1, 4}, foreign.Saturated: {1, 2, 3, 4},
		}},
		"ab-steady.txt":    {validity.Valid, findings{foreign.CoarseLatency: {0}}},
		"ab-keepalive.txt": {validity.Suspect, findings{foreign.TooShort: {0}, foreign.CoarseLatency: {0}}},
		"ab-short.txt":     {validity.Void, findings{foreign.TooShort: {0}, foreign.CoarseLatency: {0}}},
		"ab-500.txt":       {validity.Void, findings{foreign.WrongStatus: {0}, foreign.TooShort: {0}, foreign.CoarseLatency: {0}}},
		"ab-length.txt":    {validity.Void, findings{foreign.WrongLength: {0}, foreign.CoarseLatency: {0}}},
		"ab-hang.txt":      {validity.Void, findings{foreign.ToolFailed: {0}}},
		"k6-closed.txt":    {validity.Valid, findings{}},
		"k6-export.json":   {validity.Valid, findings{}},
		"k6-err.txt":       {validity.Void, findings{foreign.FailedRequests: {0}, foreign.ChecksFailed: {0}}},
		"k6-open.txt": {validity.Void, findings{
			foreign.RateNotReached: {0}, foreign.ThresholdsCrossed: {0}, foreign.TooFewRequests: {0},
		}},
		"k6-open-legacy.txt": {validity.Void, findings{
			foreign.RateNotReached: {0}, foreign.ThresholdsCrossed: {0}, foreign.TooFewRequests: {0},
		}},
		"k6-handle-summary.json": {validity.Valid, findings{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := foreign.Analyse(parse(t, name, read(t, name)))
			wantFindings(t, tc.want, r.Findings)
			if r.Verdicts[0] != tc.verdict {
				t.Errorf("verdict %s, want %s", r.Verdicts[0], tc.verdict)
			}
		})
	}
}

func TestErrorsFasterThanAnswersAreVoidAsAWin(t *testing.T) {
	samples := append(parse(t, "good.txt", read(t, "wrk-good.txt")), parse(t, "errors.txt", read(t, "wrk-500.txt"))...)
	if got := lines(foreign.Judge(samples))[foreign.ErrorsWin]; len(got) != 1 || got[0] != 1 {
		t.Errorf("ErrorsWin names %v, want the second sample", got)
	}
}
