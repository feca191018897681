package facts

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
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
		trials  []v1alpha1.Trial
		started time.Duration
		want    string
	}{
		"nobody has looked at the first yet":             {[]v1alpha1.Trial{trial("a")}, time.Hour, ""},
		"the first is refused something":                 {[]v1alpha1.Trial{begun(trial("a", refused), 0), trial("b")}, 0, "trial a: " + quota},
		"the first waits for its node":                   {[]v1alpha1.Trial{begun(trial("a", says(v1alpha1.ReasonTrialWaiting, "pod p"+conduct.AwaitsNode+"n")), 0)}, 0, "trial a: pod p" + conduct.AwaitsNode + "n"},
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
			if strings.Contains(tc.want, conduct.AwaitsNode) {
				wantWhy = v1alpha1.ReasonUnschedulable
			}
			if got != tc.want || why != wantWhy {
				t.Errorf("it says %q for the reason %q, want %q", got, why, tc.want)
			}
		})
	}
}

func TestATrialIsOwedItsReleaseWhenTheOneBeforeHasEnded(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	trial := func(name string, block int32, start v1alpha1.Start) v1alpha1.Trial {
		return v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.TrialSpec{Block: block, Start: start}}
	}
	ended := func(t v1alpha1.Trial) v1alpha1.Trial {
		t.Status.CompletionTime = &metav1.MicroTime{Time: noon}
		return t
	}
	begun := func(t v1alpha1.Trial) v1alpha1.Trial {
		t.Status.AttemptTime = &metav1.Time{Time: noon}
		return t
	}
	made := func(t v1alpha1.Trial) v1alpha1.Trial {
		t.CreationTimestamp = metav1.Time{Time: noon}
		return t
	}
	later := func(t v1alpha1.Trial) v1alpha1.Trial {
		t.CreationTimestamp = metav1.Time{Time: noon.Add(time.Second)}
		return t
	}
	const held, released = v1alpha1.StartHeld, v1alpha1.StartReleased
	for name, tc := range map[string]struct {
		trials []v1alpha1.Trial
		want   Owed
	}{
		"none was made":                          {nil, Owed{}},
		"none was released":                      {[]v1alpha1.Trial{trial("a", 1, held), trial("b", 2, held)}, Owed{Trial: "a"}},
		"the first is measured":                  {[]v1alpha1.Trial{trial("a", 1, released), trial("b", 2, held)}, Owed{}},
		"the first has ended":                    {[]v1alpha1.Trial{ended(trial("a", 1, released)), trial("b", 2, held)}, Owed{Trial: "b", After: "a", Since: noon}},
		"the second was released":                {[]v1alpha1.Trial{ended(trial("a", 1, released)), trial("b", 2, released)}, Owed{}},
		"the second has ended, too":              {[]v1alpha1.Trial{ended(trial("a", 1, released)), ended(trial("b", 2, held)), trial("c", 2, held)}, Owed{Trial: "c", After: "b", Since: noon}},
		"the next is of another workflow":        {[]v1alpha1.Trial{ended(trial("a", 2, released)), trial("b", 3, held)}, Owed{Trial: "b"}},
		"the next follows the blocks":            {[]v1alpha1.Trial{ended(trial("a", 2, released)), trial("p", 0, held)}, Owed{Trial: "p"}},
		"all have ended":                         {[]v1alpha1.Trial{ended(trial("a", 1, released))}, Owed{}},
		"a later one has begun, and waits":       {[]v1alpha1.Trial{made(trial("a", 1, held)), begun(trial("b", 1, held))}, Owed{Trial: "b"}},
		"a later one has begun, and is measured": {[]v1alpha1.Trial{made(trial("a", 1, held)), begun(trial("b", 1, released))}, Owed{}},
		"the first was deleted and made again":   {[]v1alpha1.Trial{made(trial("a", 1, held)), begun(ended(trial("b", 1, released)))}, Owed{Trial: "a", Remade: noon}},
		"the last was deleted and made again":    {[]v1alpha1.Trial{ended(trial("a", 1, released)), later(trial("b", 1, held))}, Owed{Trial: "b", After: "a", Since: noon, Remade: noon.Add(time.Second)}},
		"the trials are made one after another":  {[]v1alpha1.Trial{made(trial("a", 1, held)), later(trial("b", 1, held))}, Owed{Trial: "a"}},
		"later ones were skipped":                {[]v1alpha1.Trial{made(trial("a", 1, held)), ended(trial("b", 1, held))}, Owed{Trial: "a"}},
		"an earlier workflow had trials":         {[]v1alpha1.Trial{ended(trial("a", 2, released)), later(trial("b", 3, held))}, Owed{Trial: "b"}},
	} {
		if got := Release(tc.trials, plan.Plan{Plan: record.Plan{Blocks: 2}}); got != tc.want {
			t.Errorf("%s: %+v is owed its release, want %+v", name, got, tc.want)
		}
	}
}
