package pods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// refusals are words of a registry, or of a container runtime, that no waiting changes.
var refusals = []string{"not found", "does not exist", "manifest unknown", "no such image", "denied", "unauthorized", "authorization failed"}

// pullDeadline is how long the pull of an image may fail of which the runtime says something.
func (a Attempt) pullDeadline(said string) time.Duration {
	said = strings.ToLower(said)
	if slices.ContainsFunc(refusals, func(word string) bool { return strings.Contains(said, word) }) {
		return PullDeadline
	}
	return max(PullDeadline, a.Patience)
}

// scheduleDeadline is how long a pod may find no node.
func (a Attempt) scheduleDeadline() time.Duration { return max(ScheduleDeadline, a.Patience) }

// Awaited returns what the pods of an attempt wait for that may come back, and how long, in a sentence; empty if it is nothing. Fault ends
// the wait.
func (a Attempt) Awaited() string {
	for _, p := range a.Pods {
		for _, c := range containers(p) {
			if w := c.State.Waiting; w != nil && (w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff") {
				return fmt.Sprintf("waiting for up to %s (spec.patienceSeconds) for image %q on node %s: %s", a.pullDeadline(w.Message), c.Image, p.Spec.NodeName, w.Message)
			}
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return fmt.Sprintf("waiting for up to %s (spec.patienceSeconds) for a node for pod %s: %s", a.scheduleDeadline(), p.Name, c.Message)
			}
		}
	}
	return ""
}
