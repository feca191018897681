package pods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// refusals are words of a registry, or of a container runtime, that no waiting changes.
var refusals = []string{
	"not found", "does not exist", "manifest unknown", "name unknown", "not known to registry", "no such image", "no image found", "no matching manifest",
	"denied", "unauthorized", "authorization failed", "403 forbidden", "no basic auth credentials", "bad credentials",
}

// ownTrouble is what a node says of its own files and sockets, which no registry has refused.
const ownTrouble = "permission denied"

// pullDeadline is how long the pull of an image may fail of which the runtime says something.
func (a Attempt) pullDeadline(image, said string) time.Duration {
	if refused(image, said) {
		return PullDeadline
	}
	return max(PullDeadline, a.Patience)
}

// refused reports whether a registry does not know an image or does not give it, by what the runtime says. The image's own name says nothing.
func refused(image, said string) bool {
	said = strings.NewReplacer(repository(image), "", ownTrouble, "").Replace(strings.ToLower(said))
	return slices.ContainsFunc(refusals, func(word string) bool { return strings.Contains(said, word) })
}

// repository is an image's name without its registry, tag and digest, as it stands in messages and addresses.
func repository(image string) string {
	name, _, _ := strings.Cut(strings.ToLower(image), "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	if host, path, found := strings.Cut(name, "/"); found && (strings.ContainsAny(host, ".:") || host == "localhost") {
		return path
	}
	return name
}

// scheduleDeadline is how long a pod may find no node.
func (a Attempt) scheduleDeadline() time.Duration { return max(ScheduleDeadline, a.Patience) }

// atMost says how long something is waited for; a shortest time of Loadstone's own is not that of the spec.
func (a Attempt) atMost(d time.Duration) string {
	if d == a.Patience {
		return fmt.Sprintf("up to %s (spec.patienceSeconds)", d)
	}
	return fmt.Sprintf("up to %s", d)
}

// Awaited returns what the pods of an attempt wait for that may come back, and how long, in a sentence; empty if it is nothing. Fault ends
// the wait.
func (a Attempt) Awaited() string {
	for _, p := range a.Pods {
		for _, c := range containers(p) {
			if w := c.State.Waiting; w != nil && (w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff") {
				return fmt.Sprintf("waiting for %s for image %q on node %s: %s", a.atMost(a.pullDeadline(c.Image, w.Message)), c.Image, p.Spec.NodeName, w.Message)
			}
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return fmt.Sprintf("waiting for %s for a node for pod %s: %s", a.atMost(a.scheduleDeadline()), p.Name, c.Message)
			}
		}
	}
	return ""
}
