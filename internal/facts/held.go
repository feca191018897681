package facts

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Held reports whether the trial whose turn it is waits for its step: then no load runs.
func Held(trials []v1alpha1.Trial) bool {
	for i := range trials {
		if t := &trials[i]; t.Status.CompletionTime == nil {
			return t.Spec.Start == v1alpha1.StartHeld
		}
	}
	return false
}

// HeldUpAfter is how long a trial may be prepared, or its files may be stored, before its run says for what it waits. Most trials take less, and need no word.
const HeldUpAfter = 30 * time.Second

// HeldUp is for what the trial whose turn it is waits, and the reason; both are empty if nothing holds it up. What is away or refuses is told at once,
// and all else after some time.
func HeldUp(trials []v1alpha1.Trial, started, now time.Time) (why, waiting string) {
	since := started
	for i := range trials {
		t := &trials[i]
		if t.Status.CompletionTime != nil {
			since = t.Status.CompletionTime.Time
			continue
		}
		if t.Status.AttemptTime != nil {
			since = t.Status.AttemptTime.Time
		}
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded)
		if c == nil || c.Status != metav1.ConditionUnknown || c.Message == "" || c.Reason != v1alpha1.ReasonTrialWaiting && !slow(t, since, now) {
			return "", ""
		}
		return v1alpha1.ReasonTrialWaiting, fmt.Sprintf("trial %s: %s", t.Name, c.Message)
	}
	return "", ""
}

// slow reports whether a trial has been prepared for long, since some instant, or has been storing its files for long. One that is ready waits for its step,
// and one under load for nothing.
func slow(t *v1alpha1.Trial, since, now time.Time) bool {
	if meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionPrepared) {
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionMeasured)
		if c == nil || c.Status != metav1.ConditionTrue {
			return false
		}
		since = c.LastTransitionTime.Time
	}
	return now.Sub(since) >= HeldUpAfter
}
