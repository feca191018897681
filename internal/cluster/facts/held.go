package facts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

// Owed is the trial that waits for its step; no load runs then.
type Owed struct {
	Trial string
	// Remade is its creation time if it was deleted after its turn and created again, else zero. Its workflow may be younger.
	Remade time.Time
	// After is the previous trial in its workflow, whose result its step needs, and Since is its end; both are empty for the first.
	After string
	Since time.Time
}

// Release returns the trial that a workflow must release next: one that has begun, or else the first that has not ended.
func Release(trials []v1alpha1.Trial, p plan.Plan) Owed {
	begun := func(t v1alpha1.Trial) bool { return t.Status.CompletionTime == nil && t.Status.AttemptTime != nil }
	next := slices.IndexFunc(trials, begun)
	if next < 0 {
		next = slices.IndexFunc(trials, func(t v1alpha1.Trial) bool { return t.Status.CompletionTime == nil })
	}
	if next < 0 || trials[next].Spec.Start != v1alpha1.StartHeld {
		return Owed{}
	}
	t := &trials[next]
	owed := Owed{Trial: t.Name}
	part := func(t *v1alpha1.Trial) plan.Part { return p.PartOf(record.PlannedTrial{Block: t.Spec.Block}) }
	for i := next - 1; i >= 0; i-- {
		if last := &trials[i]; last.Status.CompletionTime != nil {
			if part(last) == part(t) {
				owed.After, owed.Since = last.Name, last.Status.CompletionTime.Time
			}
			break
		}
	}
	for i := range trials {
		if other := &trials[i]; part(other) == part(t) && overtook(other, i > next, t) {
			owed.Remade = t.CreationTimestamp.Time
		}
	}
	return owed
}

// overtook reports whether a later trial of a workflow has begun, or had ended before t was created. A skipped trial has not begun.
func overtook(other *v1alpha1.Trial, later bool, t *v1alpha1.Trial) bool {
	ended := other.Status.CompletionTime
	return later && other.Status.AttemptTime != nil || ended != nil && ended.Time.Before(t.CreationTimestamp.Time)
}

// HeldUpAfter is how long preparing or storing may take before the run reports it. Most trials take less.
const HeldUpAfter = 30 * time.Second

// HeldUp returns why the current trial waits; empty if nothing delays it. Unavailable or refusing services are reported at once, other reasons
// after a while.
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
		why = v1alpha1.ReasonTrialWaiting
		if strings.Contains(c.Message, conduct.AwaitsNode) {
			why = v1alpha1.ReasonUnschedulable
		}
		return why, fmt.Sprintf("trial %s: %s", t.Name, c.Message)
	}
	return "", ""
}

// slow reports whether a trial has been preparing (since an instant) or storing files for long. A ready trial waits for its step, and one
// under load for nothing.
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
