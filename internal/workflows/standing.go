package workflows

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/facts"
)

const (
	// Patience is how long Argo may leave a workflow, or a trial whose turn has come, alone before the run says so, and an agent pod may take to start.
	Patience = time.Minute
	// AnswerPatience is how long Argo may leave a finished trial's answer alone before its agent pod is replaced.
	AnswerPatience = 10 * time.Second
)

// Standing is how a workflow gets on that has not ended.
type Standing struct {
	// Why and Waiting are for what its run waits, and the reason; both are empty if it gets on.
	Why, Waiting string
	// Suspended is true if somebody has suspended it: nothing of it is touched.
	Suspended bool
	// Unanswered is true if Argo has not collected the result of a trial: its agent pod may have lost it.
	Unanswered bool
}

// Stands tells how a workflow gets on that owes the release of a trial, or of none. Somebody has led its run since an instant, if that is not zero: what Argo
// did before, nobody has seen.
func Stands(w *unstructured.Unstructured, owed facts.Owed, led, now time.Time) Standing {
	name, made := w.GetName(), w.GetCreationTimestamp().Time
	phase, _ := Phase(w)
	since := owed.Since
	if since.Before(made) {
		since = made // One that takes the place of another has owed nothing before.
	}
	if since.Before(led) {
		since = led
	}
	late := func(from time.Time, patience time.Duration) bool { return !from.IsZero() && now.Sub(from) > patience }
	s := Standing{Unanswered: owed.After != "" && late(since, AnswerPatience)}
	switch {
	case suspended(w):
		s = Standing{Suspended: true, Why: v1alpha1.ReasonSuspended}
		s.Waiting = fmt.Sprintf("workflow %s is suspended: set its spec.suspend to null, or argo resume it; the time of the run goes on", name)
	case phase == "" && late(made, Patience) && late(since, Patience):
		s.Why = v1alpha1.ReasonWorkflowEngineDown
		s.Waiting = fmt.Sprintf("Argo has not picked up workflow %s: is its controller running, and with the same instanceID (chart value argo.instanceID)?", name)
	case owed.Trial != "" && late(since, Patience):
		s.Why = v1alpha1.ReasonWorkflowEngineDown
		s.Waiting = fmt.Sprintf("Argo has not released trial %s, whose turn has come: is its controller running, and can the agent pod of workflow %s start?", owed.Trial, name)
	case s.Unanswered:
		s.Waiting = fmt.Sprintf("Argo has not collected the result of trial %s: its agent pod is being replaced", owed.After)
	}
	return s
}

// suspended reports whether somebody has asked Argo to start nothing more of a workflow.
func suspended(w *unstructured.Unstructured) bool {
	is, _, _ := unstructured.NestedBool(w.Object, "spec", "suspend")
	return is
}
