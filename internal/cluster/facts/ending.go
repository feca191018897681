package facts

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
)

// Ending is how a run has ended on a cluster, as if it had ended on this machine.
func Ending(r *v1alpha1.BenchmarkRun) progress.Ending {
	e := progress.Ending{Counts: true, Gated: len(r.Spec.Objectives) > 0, Verdict: &conduct.Verdict{Text: r.Status.Verdict}}
	e.State, e.Reason, e.Message = conduct.Failed, "Unknown", "the run has no condition that says how it has ended"
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		e.Reason, e.Message = c.Reason, c.Message
		if c.Status == metav1.ConditionTrue {
			e.State = conduct.Succeeded
		}
	}
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionConclusive); c != nil {
		e.Counts = c.Reason != v1alpha1.ReasonNothingCounts
		e.Verdict.Conclusive, e.Verdict.Reason = c.Status == metav1.ConditionTrue, c.Reason
	}
	return e
}

// State is how far a run is, in a word or two.
func State(r *v1alpha1.BenchmarkRun) string {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case !r.DeletionTimestamp.IsZero():
		return "Deleting"
	case c == nil:
		return "New"
	case c.Status == metav1.ConditionTrue:
		return "Succeeded"
	case r.Status.CompletionTime == nil && c.Reason == v1alpha1.ReasonInProgress:
		return "Measuring"
	}
	return c.Reason
}

// planned is how many blocks a run asks for.
func planned(s Sight) int32 { return plan.BlocksOf(s.Run.Spec) }
