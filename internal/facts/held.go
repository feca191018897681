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

// HeldUpAfter is how long a trial may be prepared before its run says for what it waits. Most trials take less, and need no word.
const HeldUpAfter = 30 * time.Second

// HeldUp is what the trial whose turn it is has waited for, for some time; empty if nothing holds it up.
func HeldUp(trials []v1alpha1.Trial, started, now time.Time) string {
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
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionPrepared)
		if c == nil || c.Status != metav1.ConditionUnknown || now.Sub(since) < HeldUpAfter {
			return ""
		}
		return fmt.Sprintf("trial %s: %s", t.Name, c.Message)
	}
	return ""
}
