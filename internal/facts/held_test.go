package facts

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestARunSaysForWhatTheTrialWaitsWhoseTurnItIs(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-d)} }
	trial := func(name string, conditions ...metav1.Condition) v1alpha1.Trial {
		return v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.TrialStatus{Conditions: conditions}}
	}
	says := func(reason, message string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: reason, Message: message}
	}
	reached := func(kind string, since time.Duration) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, LastTransitionTime: ago(since)}
	}
	begun := func(t v1alpha1.Trial, since time.Duration) v1alpha1.Trial {
		t.Status.AttemptTime = &metav1.Time{Time: noon.Add(-since)}
		return t
	}
	ended := func(t v1alpha1.Trial, since time.Duration) v1alpha1.Trial {
		t.Status.CompletionTime = &metav1.MicroTime{Time: noon.Add(-since)}
		return t
	}
	const quota, starting, storing = "exceeded quota", "pods are starting", "storing artifacts"
	refused, goes := says(v1alpha1.ReasonTrialWaiting, quota), says(v1alpha1.ReasonInProgress, starting)
	prepared := reached(v1alpha1.ConditionPrepared, time.Hour)
	for name, tc := range map[string]struct {
		trials []v1alpha1.Trial
		// started is how long ago the run began.
		started time.Duration
		want    string
	}{
		"nobody has looked at the first yet":             {[]v1alpha1.Trial{trial("a")}, time.Hour, ""},
		"the first is refused something":                 {[]v1alpha1.Trial{begun(trial("a", refused), 0), trial("b")}, 0, "trial a: " + quota},
		"the second is, and the first has just ended":    {[]v1alpha1.Trial{ended(trial("a"), 0), trial("b", refused)}, 0, "trial b: " + quota},
		"the second is, and the first goes on":           {[]v1alpha1.Trial{begun(trial("a", goes), 0), trial("b", refused)}, 0, ""},
		"pods are starting":                              {[]v1alpha1.Trial{begun(trial("a", goes), HeldUpAfter-1)}, time.Hour, ""},
		"pods are starting for long":                     {[]v1alpha1.Trial{begun(trial("a", goes), HeldUpAfter)}, time.Hour, "trial a: " + starting},
		"the first waits for room since the run's start": {[]v1alpha1.Trial{trial("a", goes)}, HeldUpAfter, "trial a: " + starting},
		"the second waits for room":                      {[]v1alpha1.Trial{ended(trial("a"), HeldUpAfter-1), trial("b", goes)}, time.Hour, ""},
		"the second waits for room for long":             {[]v1alpha1.Trial{ended(trial("a"), HeldUpAfter), trial("b", goes)}, time.Hour, "trial b: " + starting},
		"it is ready, and waits for its step":            {[]v1alpha1.Trial{begun(trial("a", prepared, says(v1alpha1.ReasonInProgress, "ready")), time.Hour)}, time.Hour, ""},
		"it is under load":                               {[]v1alpha1.Trial{begun(trial("a", prepared, says(v1alpha1.ReasonInProgress, "")), time.Hour)}, time.Hour, ""},
		"its files are stored": {
			[]v1alpha1.Trial{begun(trial("a", prepared, reached(v1alpha1.ConditionMeasured, HeldUpAfter-1), says(v1alpha1.ReasonInProgress, storing)), time.Hour)}, time.Hour, "",
		},
		"its files are stored for long": {
			[]v1alpha1.Trial{begun(trial("a", prepared, reached(v1alpha1.ConditionMeasured, HeldUpAfter), says(v1alpha1.ReasonInProgress, storing)), time.Hour)}, time.Hour, "trial a: " + storing,
		},
		"its store is away": {
			[]v1alpha1.Trial{begun(trial("a", prepared, reached(v1alpha1.ConditionMeasured, 0), says(v1alpha1.ReasonTrialWaiting, "no answer")), 0)}, 0, "trial a: no answer",
		},
		"all have ended": {[]v1alpha1.Trial{ended(trial("a", refused), time.Hour)}, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			why, got := HeldUp(tc.trials, noon.Add(-tc.started), noon)
			wantWhy := ""
			if tc.want != "" {
				wantWhy = v1alpha1.ReasonTrialWaiting
			}
			if got != tc.want || why != wantWhy {
				t.Errorf("it says %q for the reason %q, want %q", got, why, tc.want)
			}
		})
	}
}
