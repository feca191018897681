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

// Owed is the trial whose turn it is while it waits for its step; no load runs then.
type Owed struct {
	// Trial is its name; empty if the trial whose turn it is was released.
	Trial string
	// Remade is when it was created, if somebody has deleted it after its turn, so that it was made again; zero otherwise. Its workflow may be younger.
	Remade time.Time
	// After is the trial before it in its workflow, whose result its step has to wait for, and Since when that ended; both are empty of the first.
	After string
	Since time.Time
}

// Release is the trial that a workflow is to release next: one that has begun, or else the first that has not ended.
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

// overtook reports whether another trial of a workflow has begun though its turn is later, or had ended before one was made. Who was skipped has not begun.
func overtook(other *v1alpha1.Trial, later bool, t *v1alpha1.Trial) bool {
	ended := other.Status.CompletionTime
	return later && other.Status.AttemptTime != nil || ended != nil && ended.Time.Before(t.CreationTimestamp.Time)
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
		why = v1alpha1.ReasonTrialWaiting
		if strings.Contains(c.Message, conduct.AwaitsNode) {
			why = v1alpha1.ReasonUnschedulable
		}
		return why, fmt.Sprintf("trial %s: %s", t.Name, c.Message)
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
