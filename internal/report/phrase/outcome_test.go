package phrase

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
)

func TestTheSentenceOfARateThatWasNotSustained(t *testing.T) {
	for name, tc := range map[string]struct {
		verdict verdict.Verdict
		kept    verdict.RateCounts
		want    string
	}{
		"the baseline sustained it always":      {verdict.Worse, verdict.RateCounts{ContenderMissed: 7, BaselineSustained: 7}, "r500: go2 missed the rate in 7 of 7 blocks, go sustained it in all of its 7 blocks"},
		"the baseline sustained it nearly once": {verdict.Worse, verdict.RateCounts{ContenderMissed: 7, ContenderNearly: 1, BaselineSustained: 7, BaselineNearly: 1}, "r500: go2 missed the rate in 7 of 8 blocks, go sustained it in 7 of its 8 blocks and missed it by less than a tenth in the rest"},
		"the contender sustained it":            {verdict.Better, verdict.RateCounts{BaselineMissed: 8, BaselineSustained: 1, ContenderSustained: 9}, "r500: go missed the rate in 8 of 9 blocks, go2 sustained it in all of its 9 blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			e := analysis.HeadlineEntry{Implementation: "go2", Baseline: "go"}
			v := verdict.Winner{Verdict: tc.verdict, Reason: verdict.RateNotSustained, Rate: &tc.kept}
			if got := English.levelVerdict(analysis.Rules{}, e, v, "r500"); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
