package report

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/builds"
)

func TestAFirstAnswerSaysOfWhichTrialsItIs(t *testing.T) {
	spread := func(n int) *builds.Spread { return &builds.Spread{N: n, Median: 20, Min: 10, Max: 30} }
	for name, tc := range map[string]struct {
		rest      builds.AtRest
		text, sub string
	}{
		"of all trials":               {builds.AtRest{StartUpMillis: spread(3), AnswerMillis: spread(3)}, "20.0 ms", "n = 3; 10.0 ms to 30.0 ms"},
		"of all, one of them bounded": {builds.AtRest{StartUpMillis: spread(3), AnswerMillis: spread(3), AnswersAtMost: 1}, "at most 20.0 ms", "n = 3, of which 1 only bounded from above; 10.0 ms to 30.0 ms"},
		"of two of three":             {builds.AtRest{StartUpMillis: spread(3), AnswerMillis: spread(2)}, "20.0 ms", "n = 2; 10.0 ms to 30.0 ms; none within a second of the open port in 1 of 3 trials"},
		"of none of three":            {builds.AtRest{StartUpMillis: spread(3)}, "–", "none within a second of the open port in 3 of 3 trials"},
		"of a start that is unknown":  {builds.AtRest{}, "–", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := shown(analysis.Table{}).answerCell(tc.rest)
			if got.Text != tc.text || got.Sub != tc.sub {
				t.Errorf("it says %q and %q", got.Text, got.Sub)
			}
		})
	}
}
