package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func brief(list []metav1.Condition, order ...string) string {
	var parts []string
	for _, kind := range order {
		for _, c := range list {
			if c.Type == kind {
				parts = append(parts, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
			}
		}
	}
	return strings.Join(parts, " ")
}

// wasReady is a trial that an earlier pass has seen prepared.
func wasReady(s *trialScope) {
	earlier := *s
	earlier.prepared = true
	s.trial.Status = trialStatus(&earlier)
}

func TestTrialStatusFollowsObservedState(t *testing.T) {
	file := &record.Artifact{Key: "k/manifest.json", SHA256: strings.Repeat("0", 64)}
	new := func(s *trialScope) { s.trial.Status = v1alpha1.TrialStatus{} }
	tests := map[string]struct {
		deltas   []func(*trialScope)
		want     string
		attempt  int32
		ended    bool
		progress string
		faults   []string
	}{
		"the first look":             {deltas: []func(*trialScope){new}, want: "Prepared=Unknown/InProgress Measured=Unknown/InProgress Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 1, progress: "0/2"},
		"ready":                      {deltas: []func(*trialScope){func(s *trialScope) { s.prepared = true }}, want: "Prepared=True/Done Measured=Unknown/InProgress Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 1, progress: "0/2"},
		"after its first cell":       {deltas: []func(*trialScope){later(11 * time.Second)}, want: "Prepared=True/Done Measured=Unknown/InProgress Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 1, progress: "1/2"},
		"while artifacts are stored": {deltas: []func(*trialScope){later(22 * time.Second), func(s *trialScope) { s.measured = true }}, want: "Prepared=True/Done Measured=True/Done Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 1, progress: "2/2"},
		"while the store is away":    {deltas: []func(*trialScope){later(22 * time.Second), func(s *trialScope) { s.measured = true; s.await("no answer") }}, want: "Prepared=True/Done Measured=True/Done Stored=Unknown/TrialWaiting Succeeded=Unknown/TrialWaiting", attempt: 1, progress: "2/2"},
		"stored":                     {deltas: []func(*trialScope){later(22 * time.Second), func(s *trialScope) { s.manifest = file }}, want: "Prepared=True/Done Measured=True/Done Stored=True/Done Succeeded=True/Done", attempt: 1, progress: "2/2", ended: true},
		"its own fault": {
			deltas: []func(*trialScope){func(s *trialScope) { s.fault = conduct.PermanentFailure("WrongResponse", "404") }},
			want:   "Prepared=False/WrongResponse Measured=False/WrongResponse Stored=False/WrongResponse Succeeded=False/WrongResponse", attempt: 1, progress: "0/2", ended: true,
		},
		"its own fault under load": {
			deltas: []func(*trialScope){later(11 * time.Second), func(s *trialScope) { s.fault = conduct.PermanentFailure("ServerExited", "x") }},
			want:   "Prepared=True/Done Measured=False/ServerExited Stored=False/ServerExited Succeeded=False/ServerExited", attempt: 1, progress: "1/2", ended: true,
		},
		"a fault from outside under load": {
			deltas: []func(*trialScope){later(11 * time.Second), func(s *trialScope) { s.fault = conduct.TransientFailure("PodLost", "gone") }},
			want:   "Prepared=True/Done Measured=False/PodLost Stored=False/PodLost Succeeded=False/PodLost", attempt: 1, progress: "1/2", ended: true,
		},
		"a fault from outside before the load": {
			deltas: []func(*trialScope){later(-time.Second), func(s *trialScope) { s.fault = conduct.TransientFailure("PodLost", "gone") }},
			want:   "Prepared=Unknown/InProgress Measured=Unknown/InProgress Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 2, progress: "0/2",
			faults: []string{"attempt 1: PodLost: gone"},
		},
		"cancelled when it was ready": {
			deltas: []func(*trialScope){wasReady, func(s *trialScope) { s.fault = conduct.PermanentFailure("TimedOut", "the run is over") }},
			want:   "Prepared=True/Done Measured=False/TimedOut Stored=False/TimedOut Succeeded=False/TimedOut", attempt: 1, progress: "0/2", ended: true,
		},
		"tried again when it was ready": {
			deltas: []func(*trialScope){wasReady, func(s *trialScope) { s.fault = conduct.TransientFailure("PodLost", "gone") }},
			want:   "Prepared=Unknown/InProgress Measured=Unknown/InProgress Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 2, progress: "0/2",
			faults: []string{"attempt 1: PodLost: gone"},
		},
		"it has waited for too long, and failed twice before": {
			deltas: []func(*trialScope){func(s *trialScope) {
				s.attempt, s.trial.Status.Failures = 7, []string{"one", "two"}
				s.fault = conduct.Outwaited("a pod")
			}},
			want: "Prepared=Unknown/InProgress Measured=Unknown/InProgress Stored=Unknown/InProgress Succeeded=Unknown/InProgress", attempt: 8, progress: "0/2", faults: []string{"one", "two"},
		},
		"the third fault of seven attempts": {
			deltas: []func(*trialScope){func(s *trialScope) {
				s.attempt, s.trial.Status.Failures = 7, []string{"one", "two"}
				s.fault = conduct.TransientFailure("PodLost", "gone")
			}},
			want: "Prepared=False/PodLost Measured=False/PodLost Stored=False/PodLost Succeeded=False/PodLost", attempt: 7, progress: "0/2", ended: true, faults: []string{"one", "two"},
		},
		"the last fault from outside": {
			deltas: []func(*trialScope){func(s *trialScope) {
				s.attempt, s.trial.Status.Failures = 3, []string{"one", "two"}
				s.fault = conduct.TransientFailure("PodLost", "gone")
			}},
			want: "Prepared=False/PodLost Measured=False/PodLost Stored=False/PodLost Succeeded=False/PodLost", attempt: 3, progress: "0/2", ended: true, faults: []string{"one", "two"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(tc.deltas...)
			st := trialStatus(s)
			if got := brief(st.Conditions, v1alpha1.ConditionPrepared, v1alpha1.ConditionMeasured, v1alpha1.ConditionStored, v1alpha1.ConditionSucceeded); got != tc.want {
				t.Errorf("conditions are %s\nwant %s", got, tc.want)
			}
			if st.Attempt != tc.attempt || st.Progress != tc.progress || (st.CompletionTime != nil) != tc.ended {
				t.Errorf("attempt %d, progress %s, completionTime %v", st.Attempt, st.Progress, st.CompletionTime)
			}
			if diff := cmp.Diff(tc.faults, st.Failures); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			after := s.trial.DeepCopy()
			after.Status = st
			for _, finding := range lintStatus(after) {
				t.Error(finding)
			}
		})
	}
}

func TestAttemptTimeStartsAtItsTurn(t *testing.T) {
	waits := scopeOf(func(s *trialScope) { s.trial.Status, s.turn = v1alpha1.TrialStatus{}, false })
	if at := trialStatus(waits).AttemptTime; at != nil {
		t.Errorf("a trial whose turn has not come has been tried since %s", at)
	}
	turn := scopeOf(func(s *trialScope) { s.trial.Status = v1alpha1.TrialStatus{} })
	if at := trialStatus(turn).AttemptTime; at == nil || !at.Time.Equal(noon) {
		t.Errorf("a trial whose turn comes now has been tried since %v", at)
	}
	lost := scopeOf(later(-time.Second), func(s *trialScope) { s.fault = conduct.TransientFailure("PodLost", "gone") })
	if st := trialStatus(lost); !st.AttemptTime.Time.Equal(noon.Add(-time.Second)) || st.StartTime != nil {
		t.Errorf("the next attempt began at %s and starts at %v", st.AttemptTime, st.StartTime)
	}
}

func TestEndedTrialStatusIsFinal(t *testing.T) {
	s := scopeOf(later(time.Minute), func(s *trialScope) { s.manifest = &record.Artifact{Key: "k"} })
	s.trial.Status = trialStatus(s)
	want := s.trial.Status.DeepCopy()
	s.now, s.fault, s.manifest = s.now.Add(time.Hour), conduct.PermanentFailure("Deleted", "x"), nil
	if diff := cmp.Diff(*want, trialStatus(s)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
