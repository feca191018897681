package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/test/gitops"
)

// runScopeOf is a pass at noon over a run of two trials whose turn came a minute ago, with changes.
func runScopeOf(t *testing.T, deltas ...func(*runScope)) *runScope {
	t.Helper()
	s := &runScope{now: noon, run: &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "run-uid-1234", Generation: 1}}}
	s.run.Spec = v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}},
		Loads:           []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, WarmupSeconds: new(int32), DurationSeconds: 10}},
		Blocks:          2, TimeoutSeconds: 600,
	}
	p, err := plan.Compile(s.run.Spec, plan.Options{Name: "quick", UID: "run-uid-1234"})
	if err != nil {
		t.Fatal(err)
	}
	s.plan = &p
	for _, line := range p.Trials {
		s.trials = append(s.trials, *render.Trial(s.run, line))
	}
	s.run.Status.StartTime, s.run.Status.Repeats.ScannedBlocks = &metav1.Time{Time: noon.Add(-time.Minute)}, 2
	for _, d := range deltas {
		d(s)
	}
	return s
}

// endTrials ends all trials: those that are named with a fault, the others with a manifest.
func endTrials(failed ...int) func(*runScope) {
	return func(s *runScope) {
		at := metav1.NewMicroTime(noon.Add(-time.Second))
		for i := range s.trials {
			s.trials[i].Status.CompletionTime, s.trials[i].Status.ManifestKey = &at, "k"
		}
		for _, i := range failed {
			s.trials[i].Status.ManifestKey = ""
			s.trials[i].Status.Conditions = failedTrial(0, "go", v1alpha1.ReasonWrongResponse, false).Status.Conditions
		}
	}
}

func madeReport(conclusive bool) func(*runScope) {
	return func(s *runScope) {
		s.reported = &reported{html: record.Artifact{SHA256: strings.Repeat("0", 64)}, uri: "s3://b/report.html", Verdict: conduct.Verdict{Text: "go is 1.2 times as fast", Conclusive: conclusive, Reason: v1alpha1.ReasonTooFewBlocks}}
	}
}

func TestInterimAnalysesInStatusRoundTrip(t *testing.T) {
	planned := func(s *runScope) {
		s.run.Spec.Blocks, s.run.Spec.Stop = 30, v1alpha1.Stop{MaxWidth: "0.1"}
		s.run.Status.Interim.AnalysedBlocks, s.run.Status.Interim.StoppedAfterBlock = 20, 10
	}
	s := runScopeOf(t, planned)
	want := conduct.Interim{MaxWidth: "0.1", After: 20, Stopped: 10}
	if diff := cmp.Diff(want, runFacts(s).Interim); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	view := viewFacts(&trialScope{run: s.run, trial: &v1alpha1.Trial{}})
	if diff := cmp.Diff(want, view.Interim); diff != "" || view.Blocks != 30 {
		t.Errorf("a trial sees %d blocks, and (-want +got):\n%s", view.Blocks, diff)
	}
	s = runScopeOf(t, func(s *runScope) { s.interim = &conduct.Interim{After: 20, Stopped: 10} })
	if st := runStatus(s); st.Interim.AnalysedBlocks != 20 || st.Interim.StoppedAfterBlock != 10 {
		t.Errorf("the last analysis is written as of %d blocks and the end as after block %d, want 20 and 10", st.Interim.AnalysedBlocks, st.Interim.StoppedAfterBlock)
	}
}

func unmet(reason string) func(*runScope) {
	return func(s *runScope) { s.reported.Unmet, s.reported.Objectives = reason, "1 of 2 objectives missed" }
}

func TestRunStatusFollowsObservedState(t *testing.T) {
	waits := func(why, what string) func(*runScope) { return func(s *runScope) { s.why, s.waiting = why, what } }
	notBegun := func(s *runScope) { s.run.Status.StartTime, s.trials = nil, nil }
	suspend := func(s *runScope) { s.run.Spec.Suspend = new(true) }
	end := func(kind, reason string) func(*runScope) {
		return func(s *runScope) { s.end = &conduct.Ending{Condition: kind, Reason: reason, Message: "see there"} }
	}
	tests := map[string]struct {
		deltas   []func(*runScope)
		want     string
		progress string
	}{
		"its spec cannot be": {
			[]func(*runScope){notBegun, func(s *runScope) { s.plan = nil }, end(v1alpha1.ConditionPlanned, v1alpha1.ReasonInvalidSpec)},
			"Planned=False/InvalidSpec Executed=Unknown/Pending Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=False/InvalidSpec Reconciling=False/InvalidSpec Stalled=True/InvalidSpec", "",
		},
		"another comes first": {
			[]func(*runScope){notBegun, waits(v1alpha1.ReasonQueued, "a comes first")},
			"Planned=True/Done Executed=Unknown/Queued Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=Unknown/Queued Reconciling=True/Queued Stalled=False/Queued", "0/2",
		},
		"somebody suspends it before its turn": {
			[]func(*runScope){notBegun, suspend, waits(v1alpha1.ReasonSuspended, "set spec.suspend to false")},
			"Planned=Unknown/Suspended Executed=Unknown/Pending Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=Unknown/Suspended Reconciling=True/Suspended Stalled=False/Suspended", "0/2",
		},
		"somebody suspends it too late": {
			[]func(*runScope){suspend},
			"Planned=True/Done Executed=Unknown/InProgress Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=Unknown/InProgress Reconciling=True/InProgress Stalled=False/InProgress", "0/2",
		},
		"it goes on": {
			nil,
			"Planned=True/Done Executed=Unknown/InProgress Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=Unknown/InProgress Reconciling=True/InProgress Stalled=False/InProgress", "0/2",
		},
		"somebody has suspended its workflow": {
			[]func(*runScope){waits(v1alpha1.ReasonSuspended, "resume it in Argo")},
			"Planned=True/Done Executed=Unknown/Suspended Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=Unknown/Suspended Reconciling=True/Suspended Stalled=False/Suspended", "0/2",
		},
		"it takes too long": {
			[]func(*runScope){end(v1alpha1.ConditionExecuted, v1alpha1.ReasonTimedOut)},
			"Planned=True/Done Executed=False/TimedOut Reported=Unknown/Pending Conclusive=Unknown/Pending Succeeded=False/TimedOut Reconciling=False/TimedOut Stalled=True/TimedOut", "0/2",
		},
		"it takes too long, and what it has measured is reported": {
			[]func(*runScope){end(v1alpha1.ConditionExecuted, v1alpha1.ReasonTimedOut), madeReport(false)},
			"Planned=True/Done Executed=False/TimedOut Reported=True/Done Conclusive=False/TooFewBlocks Succeeded=False/TimedOut Reconciling=False/TimedOut Stalled=True/TimedOut", "0/2",
		},
		"the store is away when the report is due": {
			[]func(*runScope){endTrials(), waits(v1alpha1.ReasonStoreUnavailable, "away")},
			"Planned=True/Done Executed=True/Done Reported=Unknown/StoreUnavailable Conclusive=Unknown/Pending Succeeded=Unknown/StoreUnavailable Reconciling=True/StoreUnavailable Stalled=False/StoreUnavailable", "2/2",
		},
		"no report can be made": {
			[]func(*runScope){endTrials(1), end(v1alpha1.ConditionReported, v1alpha1.ReasonReportFailed)},
			"Planned=True/Done Executed=False/TrialsFailed Reported=False/ReportFailed Conclusive=Unknown/Pending Succeeded=False/ReportFailed Reconciling=False/ReportFailed Stalled=True/ReportFailed", "1/2",
		},
		"all is well": {
			[]func(*runScope){endTrials(), madeReport(true)},
			"Planned=True/Done Executed=True/Done Reported=True/Done Conclusive=True/Done Succeeded=True/Done Reconciling=False/Done Stalled=False/Done", "2/2",
		},
		"all is well, but nothing is decided": {
			[]func(*runScope){endTrials(), madeReport(false)},
			"Planned=True/Done Executed=True/Done Reported=True/Done Conclusive=False/TooFewBlocks Succeeded=True/Done Reconciling=False/Done Stalled=False/Done", "2/2",
		},
		"all is well, but an objective is missed": {
			[]func(*runScope){endTrials(), madeReport(true), unmet(v1alpha1.ReasonObjectivesMissed)},
			"Planned=True/Done Executed=True/Done Reported=True/Done Conclusive=True/Done Succeeded=False/ObjectivesMissed Reconciling=False/ObjectivesMissed Stalled=True/ObjectivesMissed", "2/2",
		},
		"all is well, but an objective is undecided": {
			[]func(*runScope){endTrials(), madeReport(true), unmet(v1alpha1.ReasonObjectivesUndecided)},
			"Planned=True/Done Executed=True/Done Reported=True/Done Conclusive=True/Done Succeeded=False/ObjectivesUndecided Reconciling=False/ObjectivesUndecided Stalled=True/ObjectivesUndecided", "2/2",
		},
		"a trial has failed, and an objective is missed": {
			[]func(*runScope){endTrials(0), madeReport(true), unmet(v1alpha1.ReasonObjectivesMissed)},
			"Planned=True/Done Executed=False/TrialsFailed Reported=True/Done Conclusive=True/Done Succeeded=False/TrialsFailed Reconciling=False/TrialsFailed Stalled=True/TrialsFailed", "1/2",
		},
		"a trial has failed": {
			[]func(*runScope){endTrials(0), madeReport(true)},
			"Planned=True/Done Executed=False/TrialsFailed Reported=True/Done Conclusive=True/Done Succeeded=False/TrialsFailed Reconciling=False/TrialsFailed Stalled=True/TrialsFailed", "1/2",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, tc.deltas...)
			st := runStatus(s)
			got := brief(st.Conditions, v1alpha1.ConditionPlanned, v1alpha1.ConditionExecuted, v1alpha1.ConditionReported,
				v1alpha1.ConditionConclusive, v1alpha1.ConditionSucceeded, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled)
			if got != tc.want || st.Progress != tc.progress {
				t.Errorf("%s %s\nwant %s %s", got, st.Progress, tc.want, tc.progress)
			}
			after := s.run.DeepCopy()
			after.Status = st
			for _, finding := range lintStatus(after) {
				t.Error(finding)
			}
			readsAsItSucceeds(t, after)
			s.run.Status = st
			s.now = s.now.Add(time.Hour)
			if again := runStatus(s); st.CompletionTime != nil && cmp.Diff(st, again) != "" {
				t.Errorf("the status of a run that has ended has changed:\n%s", cmp.Diff(st, again))
			}
		})
	}
}

// Changing the spec of an ended run changes nothing else, and its status stays credible.
func TestEndedRunIgnoresSuspend(t *testing.T) {
	s := runScopeOf(t, endTrials(), madeReport(true))
	before := runStatus(s)
	s.run.Status, s.run.Spec.Suspend, s.run.Generation = before, new(true), 2
	after := runStatus(s)
	if *after.ObservedGeneration != 2 {
		t.Errorf("its status is of generation %d, want 2", *after.ObservedGeneration)
	}
	s.run.Status = after
	readsAsItSucceeds(t, s.run)
	before.ObservedGeneration = after.ObservedGeneration
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("its status has changed (-before +after):\n%s", diff)
	}
}

// readsAsItSucceeds wants a run to be for Flux and for Argo CD what its condition Succeeded says.
func readsAsItSucceeds(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	succeeded := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	want := map[metav1.ConditionStatus][2]string{
		metav1.ConditionUnknown: {"InProgress", "Progressing"}, metav1.ConditionTrue: {"Current", "Healthy"}, metav1.ConditionFalse: {"Failed", "Degraded"},
	}[succeeded.Status]
	if succeeded.Reason == v1alpha1.ReasonSuspended {
		want[1] = "Suspended"
	}
	state, message, err := gitops.Flux(run)
	if err != nil || state != want[0] || state == "Failed" && message != succeeded.Message {
		t.Errorf("Flux reads %s (%s), %v, want %s of %+v", state, message, err, want[0], succeeded)
	}
	text := succeeded.Message
	if text == "" {
		text = succeeded.Reason
	}
	state, message, err = gitops.ArgoCD("../config/gitops/argocd-health-run.lua", run)
	if err != nil || state != want[1] || message != text {
		t.Errorf("Argo CD reads %s (%s), %v, want %s of %+v", state, message, err, want[1], succeeded)
	}
}

// Until an operator has seen its spec, a run has neither failed nor succeeded, whatever its old status says.
func TestNewRunIsInProgress(t *testing.T) {
	for name, status := range map[string]v1alpha1.BenchmarkRunStatus{
		"it is new": {ObservedGeneration: new(int64(-1))},
		"its spec is another": {ObservedGeneration: new(int64(1)), Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone}, {Type: v1alpha1.ConditionStalled, Status: metav1.ConditionFalse},
		}},
	} {
		run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", Generation: 2}, Status: status}
		if state, _, err := gitops.Flux(run); err != nil || state != "InProgress" {
			t.Errorf("%s: Flux reads %s, %v", name, state, err)
		}
		if state, _, err := gitops.ArgoCD("../config/gitops/argocd-health-run.lua", run); err != nil || state != "Progressing" {
			t.Errorf("%s: Argo CD reads %s, %v", name, state, err)
		}
	}
}

func TestElapsedTimeAloneIsNotWritten(t *testing.T) {
	s := runScopeOf(t, func(s *runScope) {
		end, start := metav1.NewMicroTime(noon.Add(-20*time.Second)), metav1.NewMicroTime(noon.Add(-4*time.Second))
		s.trials[0].Status.CompletionTime, s.trials[0].Status.ManifestKey = &end, "k"
		s.trials[1].Status.StartTime = &start
	})
	s.run.Status = runStatus(s)
	s.now = s.now.Add(2 * time.Second)
	if diff := cmp.Diff(s.run.Status, runStatus(s)); diff != "" {
		t.Errorf("two seconds later (-before +after):\n%s", diff)
	}
	// Nor is one cell more. A trial that has been stored is, and then the time is, too.
	s.now = s.now.Add(5 * time.Second)
	if diff := cmp.Diff(s.run.Status, runStatus(s)); diff != "" {
		t.Errorf("after the last cell (-before +after):\n%s", diff)
	}
	end := metav1.NewMicroTime(s.now)
	s.trials[1].Status.CompletionTime, s.trials[1].Status.ManifestKey = &end, "k"
	if st := runStatus(s); st.Progress == s.run.Status.Progress || st.TimeLeft == s.run.Status.TimeLeft {
		t.Errorf("after the last trial: progress %s, %s left", st.Progress, st.TimeLeft)
	}
}

func TestProgressAndTimeLeftFollowTheClock(t *testing.T) {
	s := runScopeOf(t, func(s *runScope) {
		end, start := metav1.NewMicroTime(noon.Add(-20*time.Second)), metav1.NewMicroTime(noon.Add(-4*time.Second))
		s.trials[0].Status.CompletionTime, s.trials[0].Status.ManifestKey = &end, "k"
		s.trials[1].Status.StartTime = &start
	})
	// A trial of one cell of 10 s is reckoned at 14.25 s; 4 s of the second are over.
	if st := runStatus(s); st.Progress != "1/2" || st.TimeLeft != "10s" {
		t.Errorf("progress %s, %s left", st.Progress, st.TimeLeft)
	}
	s.now = s.now.Add(7 * time.Second)
	if st := runStatus(s); st.Progress != "2/2" || st.TimeLeft != "3s" {
		t.Errorf("progress %s, %s left after the last cell", st.Progress, st.TimeLeft)
	}
}

func TestAStoreThatIsAwayIsWaitedForButNotForever(t *testing.T) {
	tests := map[string]struct {
		err   error
		since time.Duration
		ends  bool
	}{
		"away at the first look": {err: artifact.ErrUnreachable},
		"away for long":          {err: artifact.ErrUnreachable, since: 30 * time.Minute},
		"without the bucket":     {err: artifact.ErrNoBucket, ends: true},
		"with another key":       {err: artifact.ErrDenied, ends: true},
		"full":                   {err: artifact.ErrFull, ends: true},
		"with another's plan":    {err: artifact.ErrExists, ends: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &BenchmarkRunReconciler{Store: brokenStore{err: fmt.Errorf("writing: %w", tc.err)}}
			s := runScopeOf(t, func(s *runScope) { s.trials = nil })
			if tc.since > 0 {
				s.run.Status.WaitingSince = &metav1.Time{Time: noon.Add(-tc.since)}
				meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonStoreUnavailable})
			}
			next, err := r.lead(t.Context(), s)
			if err != nil || !next.Stop || (s.end != nil) != tc.ends || (next.After > 0) == tc.ends {
				t.Errorf("the phase ends with %+v, %v, %+v", next, err, s.end)
			}
			st := runStatus(s)
			c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionSucceeded)
			if c.Reason != v1alpha1.ReasonStoreUnavailable || !strings.Contains(c.Message, tc.err.Error()) {
				t.Errorf("Succeeded is %+v", c)
			}
		})
	}
}

func TestReportIsRetriedUnlessFailureIsFinal(t *testing.T) {
	tests := map[string]struct {
		err    error
		waited time.Duration
		kept   int32 // for so many seconds
		ends   bool
	}{
		"the store is away":               {err: artifact.ErrUnreachable, waited: conduct.ReportPatience},
		"the store is away for too long":  {err: artifact.ErrUnreachable, waited: conduct.ReportPatience + 1, ends: true},
		"the bucket is gone":              {err: artifact.ErrNoBucket, waited: time.Hour},
		"the bucket is gone for too long": {err: artifact.ErrNoBucket, waited: conduct.ReportPatience + 1, ends: true},
		"what was measured is still kept": {err: artifact.ErrUnreachable, waited: 7 * 24 * time.Hour, kept: 7 * 24 * 3600},
		"what was measured was kept":      {err: artifact.ErrUnreachable, waited: 7*24*time.Hour + 1, kept: 7 * 24 * 3600, ends: true},
		"it cannot be made":               {err: publish.ErrReport, ends: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &BenchmarkRunReconciler{Store: brokenStore{err: fmt.Errorf("writing: %w", tc.err)}}
			s := runScopeOf(t, endTrials(), func(s *runScope) { s.now = noon.Add(24 * time.Hour) })
			s.run.Spec.TTLSecondsAfterFinished = &tc.kept
			s.run.Status.WaitingSince = &metav1.Time{Time: s.now.Add(-tc.waited)}
			meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonStoreRefused})
			next, err := r.report(t.Context(), s)
			if err != nil || !next.Stop || (s.end != nil) != tc.ends || (next.After > 0) == tc.ends {
				t.Errorf("the phase ends with %+v, %v, %+v", next, err, s.end)
			}
		})
	}
}

func TestRunIsExecutedWhenAllTrialsEnded(t *testing.T) {
	if runScopeOf(t).executed() {
		t.Error("a run is executed before its trials have ended")
	}
	if runScopeOf(t, func(s *runScope) { s.trials = s.trials[:1] }, endTrials()).executed() {
		t.Error("a run is executed while a trial is missing")
	}
	if runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 }).executed() {
		t.Error("a run is executed before anybody has looked for blocks that were hit from outside")
	}
	if !runScopeOf(t, endTrials(0)).executed() {
		t.Error("a run whose trials have ended, one of them badly, is not executed")
	}
}

func TestOneEventListsAllChangedConditions(t *testing.T) {
	type is = map[string]metav1.Condition
	yes := func(message string) metav1.Condition {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, Message: message}
	}
	no := func(reason, message string) metav1.Condition {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	for name, tc := range map[string]struct {
		after is
		want  string
	}{
		"nothing has changed": {is{v1alpha1.ConditionPlanned: yes("")}, ""},
		"it has succeeded": {
			is{v1alpha1.ConditionConclusive: yes("go is faster"), v1alpha1.ConditionReported: yes(""), v1alpha1.ConditionSucceeded: yes("go is faster")},
			"Normal Done Conclusive is True, Reported is True, Succeeded is True: go is faster",
		},
		"it is undecided": {
			is{v1alpha1.ConditionConclusive: no(v1alpha1.ReasonTooFewBlocks, "no verdict"), v1alpha1.ConditionSucceeded: yes("no verdict")},
			"Normal Done Conclusive is False (TooFewBlocks), Succeeded is True: no verdict",
		},
		"it has failed": {
			is{v1alpha1.ConditionExecuted: no(v1alpha1.ReasonTrialsFailed, "1 of 4"), v1alpha1.ConditionReported: yes(""), v1alpha1.ConditionSucceeded: no(v1alpha1.ReasonTrialsFailed, "1 of 4")},
			"Warning TrialsFailed Executed is False (TrialsFailed), Reported is True, Succeeded is False (TrialsFailed): 1 of 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(2)
			var before, after v1alpha1.BenchmarkRun
			before.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionPlanned, Status: metav1.ConditionTrue}}
			for _, kind := range slices.Sorted(maps.Keys(tc.after)) {
				c := tc.after[kind]
				c.Type = kind
				after.Status.Conditions = append(after.Status.Conditions, c)
			}
			(&BenchmarkRunReconciler{Recorder: recorder}).announce(&before, &after)
			close(recorder.Events)
			if got := <-recorder.Events; got != tc.want {
				t.Errorf("the event is %q, want %q", got, tc.want)
			}
			if more := <-recorder.Events; more != "" {
				t.Errorf("there is another one: %s", more)
			}
		})
	}
}
