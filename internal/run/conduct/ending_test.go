package conduct_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

func later(d time.Duration) func(*conduct.Run) { return func(r *conduct.Run) { r.Now = noon.Add(d) } }

func TestAStoreThatIsAwayIsWaitedForButNotForever(t *testing.T) {
	away := errors.New("away")
	begins := func(r *conduct.Run) { r.Started = noon }
	lately := waiting(0)
	const week = 7 * 24 * time.Hour
	kept := func(r *conduct.Run) { r.Kept = week }
	for name, tc := range map[string]struct {
		ask     func(conduct.Run, bool) *conduct.Ending
		deltas  []func(*conduct.Run)
		forGood bool
		want    *conduct.Ending
	}{
		"at the report, long after an operator was there": {notReported(away), []func(*conduct.Run){measured(0), later(2 * conduct.ReportPatience), lately}, false, nil},
		"at the interim, for very long":                   {notAnalysed(away), []func(*conduct.Run){begins, waiting(time.Hour)}, false, nil},
		"at the interim, for good":                        {notAnalysed(away), []func(*conduct.Run){begins}, true, &conduct.Ending{Condition: "Executed", Reason: "StoreUnavailable", Message: "away"}},
		"at the report":                                   {notReported(away), []func(*conduct.Run){measured(0), waiting(conduct.ReportPatience)}, false, nil},
		"at the report, for too long":                     {notReported(away), []func(*conduct.Run){measured(0), waiting(conduct.ReportPatience + 1)}, false, &conduct.Ending{Condition: "Reported", Reason: "ReportFailed", Message: "away"}},
		"at the report of a run that is kept":             {notReported(away), []func(*conduct.Run){measured(0), kept, waiting(week)}, false, nil},
		"at the report of one that was kept":              {notReported(away), []func(*conduct.Run){measured(0), kept, waiting(week + 1)}, false, &conduct.Ending{Condition: "Reported", Reason: "ReportFailed", Message: "away"}},
		"at the report of a part":                         {notReported(away), []func(*conduct.Run){measured(0), open(1), left(-time.Hour)}, false, nil},
		"at the report, for good":                         {notReported(away), []func(*conduct.Run){measured(0)}, true, &conduct.Ending{Condition: "Reported", Reason: "ReportFailed", Message: "away"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.ask(runOf(t, 2, alone, tc.deltas...), tc.forGood)); diff != "" {
				t.Errorf("the end (-want +got):\n%s", diff)
			}
		})
	}
}

func waiting(since time.Duration) func(*conduct.Run) {
	return func(r *conduct.Run) { r.Waiting = r.Now.Add(-since) }
}

func notAnalysed(err error) func(conduct.Run, bool) *conduct.Ending {
	return func(r conduct.Run, forGood bool) *conduct.Ending { return r.NotAnalysed(err, forGood) }
}

func notReported(err error) func(conduct.Run, bool) *conduct.Ending {
	return func(r conduct.Run, forGood bool) *conduct.Ending { return r.NotReported(err, forGood) }
}

func TestARunGivesWayToThoseThatWait(t *testing.T) {
	for others, want := range map[int]string{
		1: "the run waited for spec.patienceSeconds; it is bound to n1 and n2, where no pods can start, and another run waits for a turn; reporting partial results",
		2: "the run waited for spec.patienceSeconds; it is bound to n1 and n2, where no pods can start, and 2 others wait for a turn; reporting partial results",
	} {
		if got := conduct.GaveWay([]string{"n1", "n2"}, others).Message; got != want {
			t.Errorf("%d others: %q", others, got)
		}
	}
}

func TestAScanDoesNotWaitForTheStoreForever(t *testing.T) {
	for name, tc := range map[string]struct {
		since   time.Duration
		forGood bool
		want    bool
	}{
		"away":              {conduct.ScanPatience, false, true},
		"away for too long": {conduct.ScanPatience + 1, false, false},
		"away for good":     {0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runOf(t, 2, alone, measured(0), waiting(tc.since)).ScanWaits(tc.forGood); got != tc.want {
				t.Errorf("it waits: %v", got)
			}
		})
	}
}

func TestARunEndsWhenItsTimeIsOver(t *testing.T) {
	timedOut := &conduct.Ending{Condition: "Executed", Reason: "TimedOut", Message: "the run exceeded its timeout of 600 s: raise spec.timeoutSeconds"}
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   *conduct.Ending
	}{
		"after the deadline, of which nobody led for as long": {[]func(*conduct.Run){measured(0), open(1), left(-1), func(r *conduct.Run) { r.Absence.Sum = time.Second }}, nil},
		"at the deadline":                              {[]func(*conduct.Run){measured(0), open(1), left(0)}, nil},
		"after the deadline":                           {[]func(*conduct.Run){measured(0), open(1), left(-1)}, timedOut},
		"after the deadline, before any trial":         {[]func(*conduct.Run){left(-1)}, timedOut},
		"after the deadline, before the scan":          {[]func(*conduct.Run){measured(0), left(-1)}, nil},
		"after the deadline, with all executed":        {[]func(*conduct.Run){measured(0), scanned(2), left(-1)}, nil},
		"after the deadline, with a repeat block open": {[]func(*conduct.Run){measured(1), scanned(2), disturbed(1), open(2), left(-1)}, nil},
		"after the deadline, with a planned one open":  {[]func(*conduct.Run){measured(1), scanned(2), disturbed(1), open(1), left(-1)}, timedOut},
		"after the deadline, with a block disturbed":   {[]func(*conduct.Run){measured(0), scanned(2), disturbed(1), left(-1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := runOf(t, 2, alone, tc.deltas...)
			if diff := cmp.Diff(tc.want, r.TimedOut()); diff != "" {
				t.Errorf("the end (-want +got):\n%s", diff)
			}
			if step := r.Next(); (step.Act == conduct.ActEnd) != (tc.want != nil) {
				t.Errorf("next is %+v", step)
			}
		})
	}
}

func TestARunIsExecutedWhenEveryNeededTrialHasEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   bool
	}{
		"before its trials have ended":           {[]func(*conduct.Run){measured(0), open(0), scanned(2)}, false},
		"while a trial is missing":               {[]func(*conduct.Run){measured(0), scanned(2), func(r *conduct.Run) { r.Trials = r.Trials[:1] }}, false},
		"before anybody has scanned it":          {[]func(*conduct.Run){measured(0)}, false},
		"while a repeat block is still to come":  {[]func(*conduct.Run){measured(0), scanned(2), disturbed(1)}, false},
		"when all have ended, one of them badly": {[]func(*conduct.Run){measured(0), scanned(2), failed(0, v1alpha1.ReasonWrongResponse, "")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runOf(t, 2, alone, tc.deltas...).Executed(); got != tc.want {
				t.Errorf("it is executed: %v", got)
			}
		})
	}
}

func TestHowARunHasEnded(t *testing.T) {
	refused := conduct.Refused(&plan.Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: "see there"})
	good := &conduct.Verdict{Text: "go is 1.2 times as fast", Conclusive: true}
	missed := &conduct.Verdict{Text: good.Text, Unmet: v1alpha1.ReasonObjectivesMissed, Objectives: "1 of 2 objectives missed"}
	all, one := []func(*conduct.Run){measured(0)}, []func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonWrongResponse, "404")}
	for name, tc := range map[string]struct {
		deltas  []func(*conduct.Run)
		end     *conduct.Ending
		verdict *conduct.Verdict
		want    conduct.Outcome
	}{
		"it goes on":             {nil, nil, nil, conduct.Outcome{Reason: "InProgress"}},
		"it was refused":         {nil, refused, nil, conduct.Outcome{State: conduct.Failed, Reason: "InvalidSpec", Message: "see there"}},
		"it was reported":        {all, nil, good, conduct.Outcome{State: conduct.Succeeded, Reason: "Done", Message: good.Text}},
		"an objective is missed": {all, nil, missed, conduct.Outcome{State: conduct.Failed, Reason: "ObjectivesMissed", Message: "1 of 2 objectives missed"}},
		"a trial failed":         {one, nil, good, conduct.Outcome{State: conduct.Failed, Reason: "TrialsFailed", Message: "1 of 2 trials failed; 404"}},
		"a trial failed, and an objective is missed": {one, nil, missed, conduct.Outcome{State: conduct.Failed, Reason: "TrialsFailed", Message: "1 of 2 trials failed; 404"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, runOf(t, 2, alone, tc.deltas...).Outcome(tc.end, tc.verdict)); diff != "" {
				t.Errorf("the outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailuresAreQuotedOnceAnImplementation(t *testing.T) {
	wrong := func(i int, what string) func(*conduct.Run) { return failed(i, v1alpha1.ReasonWrongResponse, what) }
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   string
	}{
		"nobody failed":     {nil, ""},
		"one failed twice":  {[]func(*conduct.Run){wrong(0, "first"), wrong(1, "second")}, "2 of 2 trials failed; first"},
		"another came last": {[]func(*conduct.Run){wrong(1, "second")}, "1 of 2 trials failed; second"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runOf(t, 2, alone, append([]func(*conduct.Run){measured(0)}, tc.deltas...)...).Failures(); got != tc.want {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

func TestProgressAndTimeLeftFollowTheClock(t *testing.T) {
	r := runOf(t, 2, alone, measured(0), open(1), func(r *conduct.Run) { r.Trials[1].Started = noon.Add(-4 * time.Second) })
	check := func(wantDone, wantAll int, wantLeft time.Duration) {
		t.Helper()
		if done, all := r.Progress(); done != wantDone || all != wantAll || r.Left() != wantLeft {
			t.Errorf("progress %d/%d, %s left, want %d/%d, %s", done, all, r.Left(), wantDone, wantAll, wantLeft)
		}
	}
	// A trial of one cell of 10 s is planned at 14.25 s; 4 s of the second are over.
	check(1, 2, 10*time.Second)
	r.Now = noon.Add(7 * time.Second)
	check(2, 2, 3*time.Second)
	r.Now = noon.Add(time.Minute)
	check(2, 2, 0)
}
