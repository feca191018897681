package facts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func cellsOf(n int) sweep.Sweep {
	s := sweep.Sweep{Implementations: []record.Implementation{{Name: "a"}}, Generators: record.Generators{Pods: 1, CPUs: 1}}
	for range n {
		s.Cells = append(s.Cells, record.Cell{Load: "l", Tool: record.ToolWrk, Connections: 1, Generators: 1, Threads: 1, DurationSeconds: 20})
	}
	return s
}

func TestCellsAreCountedInAStatusOnlyNowAndThen(t *testing.T) {
	for name, tc := range map[string]struct {
		// told is the previous progress; after is the time since the load began.
		told  string
		after time.Duration
		want  string
	}{
		"before the first cell has ended":     {"0/6", 10 * time.Second, "0/6"},
		"the first cell has ended":            {"0/6", 22 * time.Second, "0/6"},
		"two cells have ended":                {"0/6", 43 * time.Second, "2/6"},
		"two cells were told, a third":        {"2/6", 64 * time.Second, "2/6"},
		"two cells were told, a third, fifth": {"2/6", 106 * time.Second, "5/6"},
		"an attempt that begins anew":         {"4/6", time.Second, "0/6"},
	} {
		t.Run(name, func(t *testing.T) {
			now := noon.Add(tc.after)
			try := conduct.Attempt{Number: 1, Work: cellsOf(6), Begun: noon.Add(-time.Minute), Started: noon, Now: now}
			trial := v1alpha1.TrialStatus{Attempt: 1, Progress: tc.told}
			next := trial
			next.Progress = Progress(try.CellsDone(), 6)
			if got := WrittenTrial(trial, next, try, nil).Progress; got != tc.want {
				t.Errorf("the trial's progress is %s, want %s", got, tc.want)
			}
			run := conduct.Run{Now: now, Trials: conduct.Trials{{PlannedTrial: record.PlannedTrial{Name: "t"}, Work: cellsOf(6), Started: noon}}}
			status := v1alpha1.BenchmarkRunStatus{Progress: tc.told, TimeLeft: "5m0s"}
			after := v1alpha1.BenchmarkRunStatus{Progress: next.Progress, TimeLeft: "4m0s"}
			got := WrittenRun(status, after, run)
			if got.Progress != tc.want || (got.TimeLeft == "5m0s") != (tc.want == tc.told) {
				t.Errorf("the run's progress is %s with %s left, want %s", got.Progress, got.TimeLeft, tc.want)
			}
		})
	}
}

func TestCellsOfTrialsThatAreStoredAreNotCountedTwice(t *testing.T) {
	done := conduct.Trial{PlannedTrial: record.PlannedTrial{Name: "a"}, Work: cellsOf(2), Started: noon.Add(-43 * time.Second), Ended: noon, Stored: &record.Artifact{}}
	open := conduct.Trial{PlannedTrial: record.PlannedTrial{Name: "b"}, Work: cellsOf(2), Started: noon}
	for name, tc := range map[string]struct {
		trials conduct.Trials
		after  time.Duration
		told   int
		want   bool
	}{
		"all told":                           {conduct.Trials{done}, 0, 2, false},
		"a cell has ended since":             {conduct.Trials{done}, 0, 1, false},
		"a trial was stored since":           {conduct.Trials{done}, 0, 0, true},
		"another has ended one cell":         {conduct.Trials{done, open}, 22 * time.Second, 2, false},
		"another has ended two":              {conduct.Trials{done, open}, 43 * time.Second, 2, true},
		"a trial was lost of which was told": {conduct.Trials{done, open}, time.Second, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (conduct.Run{Now: noon.Add(tc.after), Trials: tc.trials}).Tells(tc.told); got != tc.want {
				t.Errorf("it is worth a write: %v", got)
			}
		})
	}
}

func TestWhatAnAttemptWaitsForIsToldWhenItHasWaitedAWhile(t *testing.T) {
	with := func(status metav1.ConditionStatus, message string) v1alpha1.TrialStatus {
		return v1alpha1.TrialStatus{Attempt: 1, AttemptTime: &metav1.Time{Time: noon}, Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionPrepared, Status: status, Reason: v1alpha1.ReasonInProgress, Message: message},
		}}
	}
	turnless := func(s v1alpha1.TrialStatus) v1alpha1.TrialStatus { s.AttemptTime = nil; return s }
	just := conduct.Trials{{Ended: noon.Add(time.Minute - time.Second)}}
	for name, tc := range map[string]struct {
		next     v1alpha1.TrialStatus
		after    time.Duration
		siblings conduct.Trials
		told     bool
	}{
		"another word at once":                {with(metav1.ConditionUnknown, "the server is not ready yet"), time.Second, nil, false},
		"the same after a while":              {with(metav1.ConditionUnknown, "the server is not ready yet"), 4 * time.Second, nil, true},
		"it is ready, at once":                {with(metav1.ConditionTrue, ""), time.Second, nil, false},
		"it is ready, after a while":          {with(metav1.ConditionTrue, ""), 4 * time.Second, nil, true},
		"it fails at once":                    {with(metav1.ConditionFalse, "no"), time.Second, nil, true},
		"nothing has changed":                 {with(metav1.ConditionUnknown, "pods start"), 4 * time.Second, nil, false},
		"before its turn, just after another": {turnless(with(metav1.ConditionUnknown, "pods of another end")), time.Minute, just, false},
		"before its turn, long after another": {turnless(with(metav1.ConditionUnknown, "pods of another end")), 2 * time.Minute, just, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := with(metav1.ConditionUnknown, "pods start")
			before.AttemptTime = tc.next.AttemptTime
			want := before
			if tc.told {
				want = tc.next
			}
			try := conduct.Attempt{Number: 1, Work: cellsOf(1), Begun: noon, Now: noon.Add(tc.after)}
			if diff := cmp.Diff(want, WrittenTrial(before, tc.next, try, tc.siblings)); diff != "" {
				t.Errorf("the status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndOfLoadIsToldWithTheStoredFiles(t *testing.T) {
	storing := v1alpha1.TrialStatus{Attempt: 1, Progress: "1/1", Conditions: []metav1.Condition{
		{Type: v1alpha1.ConditionMeasured, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone},
		{Type: v1alpha1.ConditionStored, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonInProgress, Message: "storing artifacts"},
	}}
	refused := *storing.DeepCopy()
	refused.Conditions[1].Reason = v1alpha1.ReasonTrialWaiting
	stored := *storing.DeepCopy()
	stored.CompletionTime = &metav1.MicroTime{Time: noon}
	for name, tc := range map[string]struct {
		next  v1alpha1.TrialStatus
		after time.Duration
		told  bool
	}{
		"files are being stored": {storing, time.Second, false},
		"that takes a while":     {storing, Quickly, true},
		"the store refuses them": {refused, time.Second, true},
		"everything is stored":   {stored, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := v1alpha1.TrialStatus{Attempt: 1, Progress: "0/1", Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionMeasured, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonInProgress},
				{Type: v1alpha1.ConditionStored, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonInProgress},
			}}
			want := before
			if tc.told {
				want = tc.next
			}
			try := conduct.Attempt{Number: 1, Work: cellsOf(1), Begun: noon, Started: noon}
			try.Now = try.End().Add(tc.after)
			if diff := cmp.Diff(want, WrittenTrial(before, tc.next, try, nil)); diff != "" {
				t.Errorf("the status (-want +got):\n%s", diff)
			}
		})
	}
}
