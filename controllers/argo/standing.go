package argo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

const (
	// Patience is how long Argo may leave a workflow or the next trial unhandled before the run reports it, and how long an agent pod may take to
	// start.
	Patience = time.Minute
	// AnswerPatience is how long Argo may leave a finished trial's answer uncollected before its agent pod is replaced.
	AnswerPatience = 10 * time.Second
)

// Standing is the progress of an unfinished workflow.
type Standing struct {
	// Why and Waiting are the reason and the message of a wait; empty if the workflow makes progress.
	Why, Waiting string
	Suspended    bool
	// Unanswered: Argo has not collected a trial's result. The agent pod may have lost it.
	Unanswered bool
}

// Stands returns the progress of a workflow that must release a trial, or none. Argo is unavailable if it does not release that trial although its
// agent pod runs or does not exist; an agent pod that cannot start or terminate has the run's own patience. If led is not zero, Argo was not observed
// before then.
func Stands(w *unstructured.Unstructured, agents []corev1.Pod, owed facts.Owed, led, now time.Time) Standing {
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
	held := heldUp(agents, now)
	s := Standing{Unanswered: owed.After != "" && late(since, AnswerPatience)}
	switch {
	case suspended(w):
		s = Standing{Suspended: true, Why: v1alpha1.ReasonSuspended}
		s.Waiting = fmt.Sprintf("workflow %s is suspended, and the run's timeout continues: resume it with argo resume, or set its spec.suspend to null", name)
	case phase == "" && late(made, Patience) && late(since, Patience):
		s.Why = v1alpha1.ReasonWorkflowEngineDown
		s.Waiting = fmt.Sprintf("Argo has not picked up workflow %s: check that its controller runs with the same instanceID (chart value argo.instanceID)", name)
	case owed.Trial != "" && late(since, Patience) && held != nil:
		s.Why = v1alpha1.ReasonTrialWaiting
		s.Waiting = fmt.Sprintf("agent pod %s of workflow %s has not released the next trial %s, and the run's timeout continues: %s", held.Name, name, owed.Trial, state(held))
	case owed.Trial != "" && late(since, Patience):
		s.Why = v1alpha1.ReasonWorkflowEngineDown
		s.Waiting = fmt.Sprintf("Argo has not released the next trial %s of workflow %s: check that its controller runs", owed.Trial, name)
	case s.Unanswered:
		s.Waiting = fmt.Sprintf("Argo has not collected the result of trial %s: its agent pod is being replaced", owed.After)
	}
	return s
}

func heldUp(agents []corev1.Pod, now time.Time) *corev1.Pod {
	for i := range agents {
		p := &agents[i]
		stuck := !p.DeletionTimestamp.IsZero() && now.Sub(p.DeletionTimestamp.Time) > Patience
		if stuck || p.DeletionTimestamp.IsZero() && p.Status.Phase == corev1.PodPending {
			return p
		}
	}
	return nil
}

// state is what a pod waits for, or else its phase.
func state(p *corev1.Pod) string {
	if !p.DeletionTimestamp.IsZero() {
		return "the pod is being deleted"
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "the pod is not scheduled: " + c.Message
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil {
			return fmt.Sprintf("container %s is waiting: %s", c.Name, strings.TrimSuffix(w.Reason+": "+w.Message, ": "))
		}
	}
	return "the pod is " + string(p.Status.Phase)
}

func suspended(w *unstructured.Unstructured) bool {
	is, _, _ := unstructured.NestedBool(w.Object, "spec", "suspend")
	return is
}
