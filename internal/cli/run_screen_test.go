package cli

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

func TestExitCodeOfEachEnding(t *testing.T) {
	verdict := &conduct.Verdict{Conclusive: true}
	open := &conduct.Verdict{Reason: v1alpha1.ReasonTooFewBlocks}
	alone := &conduct.Verdict{Reason: v1alpha1.ReasonNothingToCompare}
	done := conduct.Outcome{State: conduct.Succeeded, Reason: v1alpha1.ReasonDone}
	failed := func(reason string) conduct.Outcome { return conduct.Outcome{State: conduct.Failed, Reason: reason} }
	for name, tc := range map[string]struct {
		ending progress.Ending
		want   int
	}{
		"a verdict":                      {progress.Ending{Outcome: done, Verdict: verdict, Counts: true}, 0},
		"met objectives without verdict": {progress.Ending{Outcome: done, Verdict: open, Counts: true, Gated: true}, 0},
		"one implementation alone":       {progress.Ending{Outcome: done, Verdict: alone, Counts: true}, 0},
		"nothing that counts":            {progress.Ending{Outcome: done, Verdict: alone}, statusInconclusive},
		"no verdict":                     {progress.Ending{Outcome: done, Verdict: open, Counts: true}, statusInconclusive},
		"a missed objective":             {progress.Ending{Outcome: failed(v1alpha1.ReasonObjectivesMissed), Verdict: verdict, Counts: true, Gated: true}, statusMissed},
		"an undecided objective":         {progress.Ending{Outcome: failed(v1alpha1.ReasonObjectivesUndecided), Verdict: open, Counts: true, Gated: true}, statusInconclusive},
		"failed trials":                  {progress.Ending{Outcome: failed(v1alpha1.ReasonTrialsFailed), Verdict: open}, statusFailed},
		"a time that is over":            {progress.Ending{Outcome: failed(v1alpha1.ReasonTimedOut)}, statusFailed},
		"an interruption":                {progress.Ending{Interrupted: true}, statusInterrupted},
		"an interruption with a report":  {progress.Ending{Interrupted: true, Report: "report.html", Verdict: open}, statusInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			err := statusOf(tc.ending)
			if tc.want == 0 && err != nil || tc.want != 0 && (err == nil || status(err) != tc.want) {
				t.Errorf("it ends with %v, want status %d", err, tc.want)
			}
		})
	}
}

func TestHelpListsEveryExitCode(t *testing.T) {
	out, err := execute(t, "run", "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n      0  ", "\n      1  ", "\n      2  ", "\n      3  ", "\n      4  ", "\n    130  ", "--out DIR"} {
		if !strings.Contains(out, want) {
			t.Errorf("help does not hold %q", want)
		}
	}
}
