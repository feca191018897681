package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/record"
)

// played are the events of a short run.
func played() []local.Event {
	first := &record.PlannedTrial{Block: 1, Servers: []string{"plain"}}
	again := &record.PlannedTrial{Block: 3, Servers: []string{"plain", "costly"}}
	return []local.Event{
		{Kind: local.EventNote, Message: "servers were set on CPUs [1]"},
		{Kind: local.EventProgress, Trial: first, Blocks: 2, Cell: "sweep-10", Done: 1, All: 8, Left: 61 * time.Second},
		{Kind: local.EventMeasured, Trial: first, Blocks: 2, Left: time.Minute, Results: []local.Result{
			{Name: "sweep-10", Value: 12345.6, Unit: "requests/s"}, {Name: "sweep-100", Failed: "it hung"},
		}},
		{Kind: local.EventFailed, Trial: again, Blocks: 2, Repeats: 1, Message: "the server exited"},
	}
}

func TestAScreenShowsWhatHappens(t *testing.T) {
	for name, tc := range map[string]struct {
		live bool
		want []string
		not  []string
	}{
		"on a terminal": {true, []string{
			"servers were set on CPUs [1]\n", "block 1/2     plain  sweep-10  1 of 8 cells  1m1s left", "\r",
			"block 1/2     plain  sweep-10 12346 requests/s, sweep-100 failed: it hung  1m0s left\n", "repeat 1/1    plain and costly  failed: the server exited\n",
		}, nil},
		"elsewhere only what stays": {false, []string{"sweep-10 12346 requests/s", "repeat 1/1    plain and costly"}, []string{"\r", "1 of 8 cells"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := screen{out: &out, live: tc.live}
			for _, e := range played() {
				s.tell(e)
			}
			s.end()
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not show %q:\n%q", want, out.String())
				}
			}
			for _, not := range tc.not {
				if strings.Contains(out.String(), not) {
					t.Errorf("it shows %q:\n%q", not, out.String())
				}
			}
		})
	}
}

func TestEachEndingHasAStatus(t *testing.T) {
	verdict := &conduct.Verdict{Conclusive: true}
	open := &conduct.Verdict{Reason: v1alpha1.ReasonTooFewBlocks}
	alone := &conduct.Verdict{Reason: v1alpha1.ReasonNothingToCompare}
	done := conduct.Outcome{State: conduct.Succeeded, Reason: v1alpha1.ReasonDone}
	failed := func(reason string) conduct.Outcome { return conduct.Outcome{State: conduct.Failed, Reason: reason} }
	for name, tc := range map[string]struct {
		ending local.Ending
		want   int
	}{
		"a verdict":                      {local.Ending{Outcome: done, Verdict: verdict, Counts: true}, 0},
		"met objectives without verdict": {local.Ending{Outcome: done, Verdict: open, Counts: true, Gated: true}, 0},
		"one implementation alone":       {local.Ending{Outcome: done, Verdict: alone, Counts: true}, 0},
		"nothing that counts":            {local.Ending{Outcome: done, Verdict: alone}, statusInconclusive},
		"no verdict":                     {local.Ending{Outcome: done, Verdict: open, Counts: true}, statusInconclusive},
		"a missed objective":             {local.Ending{Outcome: failed(v1alpha1.ReasonObjectivesMissed), Verdict: verdict, Counts: true, Gated: true}, statusMissed},
		"an undecided objective":         {local.Ending{Outcome: failed(v1alpha1.ReasonObjectivesUndecided), Verdict: open, Counts: true, Gated: true}, statusInconclusive},
		"failed trials":                  {local.Ending{Outcome: failed(v1alpha1.ReasonTrialsFailed), Verdict: open}, statusFailed},
		"a time that is over":            {local.Ending{Outcome: failed(v1alpha1.ReasonTimedOut)}, statusFailed},
		"an interruption":                {local.Ending{Interrupted: true}, statusInterrupted},
		"an interruption with a report":  {local.Ending{Interrupted: true, Report: "report.html", Verdict: open}, statusInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			err := statusOf(tc.ending)
			if tc.want == 0 && err != nil || tc.want != 0 && (err == nil || status(err) != tc.want) {
				t.Errorf("it ends with %v, want status %d", err, tc.want)
			}
		})
	}
}

func TestHelpNamesEveryStatus(t *testing.T) {
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
