package phrase

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

func TestShortVerdictFitsIntoAColumn(t *testing.T) {
	entry := func(v verdict.Verdict, ratio float64) analysis.HeadlineEntry {
		return analysis.HeadlineEntry{Verdict: v, Ratio: &ratio}
	}
	for name, tc := range map[string]struct {
		h    analysis.Headline
		want string
	}{
		"better":            {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Better, 1.125)}}, "better: +12.5 %"},
		"worse":             {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Worse, 0.5)}}, "worse: -50.0 %"},
		"a large change":    {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Better, 123456789012345)}}, ""},
		"without a ratio":   {analysis.Headline{Entries: []analysis.HeadlineEntry{{Verdict: verdict.Better}}}, "better"},
		"no difference":     {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.NoDifference, 1)}}, "no difference"},
		"two contenders":    {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Better, 2), entry(verdict.Better, 3)}}, "better"},
		"different results": {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Better, 2), entry(verdict.DependsOnLoad, 1)}}, "mixed"},
		"cases":             {analysis.Headline{Cases: []analysis.CaseOutcome{{Cases: 3, Worse: 3}}}, "worse"},
		"mixed cases":       {analysis.Headline{Cases: []analysis.CaseOutcome{{Cases: 3, Worse: 1, Same: 2}}}, "mixed"},
		"both sides":        {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Mixed, 2)}}, "mixed"},
		"disturbed":         {analysis.Headline{Entries: []analysis.HeadlineEntry{{Verdict: verdict.Inconclusive, Indicated: &verdict.Indication{Ratio: 9.7}}}}, "indicated: 9.70x"},
		"undecided":         {analysis.Headline{Entries: []analysis.HeadlineEntry{entry(verdict.Inconclusive, 1)}}, "inconclusive"},
		"one contender":     {analysis.Headline{}, "no comparison"},
		"a calibration":     {analysis.Headline{Calibration: &record.Calibration{}}, "noise floor"},
	} {
		got := Short(tc.h)
		if tc.want != "" && got != tc.want || len(got) == 0 || len(got) > MaxShort {
			t.Errorf("%s: %q, want %q in at most %d characters", name, got, tc.want, MaxShort)
		}
	}
}
