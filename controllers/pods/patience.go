package pods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// refusals are permanent errors of registries and container runtimes.
var refusals = []string{
	"not found", "does not exist", "manifest unknown", "name unknown", "not known to registry", "no such image", "no image found", "no matching manifest",
	"denied", "unauthorized", "authorization failed", "403 forbidden", "no basic auth credentials", "bad credentials",
}

// ownTrouble are errors of a node's own files and sockets, not a registry's refusal.
const ownTrouble = "permission denied"

// lacks are permanent errors of an image.
var lacks = []string{"executable file not found", "no such file or directory", "exec format error", "permission denied"}

// stumbles are temporary errors of kubelets and container runtimes.
var stumbles = []string{"failed to sync", "deadline exceeded", "deadlineexceeded", "timed out", "failed to reserve", "code = unavailable"}

func (a Attempt) startDeadline(why corev1.ContainerStateWaiting) time.Duration {
	switch said := why.Message; {
	case stumbled(said):
	case says(said, lacks):
		return 0
	case why.Reason == unconfigured && says(said, absences):
		return ObjectDeadline
	case says(said, absences):
		return StartDeadline
	}
	return max(StartDeadline, a.Patience)
}

func stumbled(said string) bool { return says(said, stumbles) }

func says(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

func (a Attempt) pullDeadline(image, said string) time.Duration {
	if refused(image, said) {
		return PullDeadline
	}
	return max(PullDeadline, a.Patience)
}

// refused reports whether a registry refuses an image. The image's own name is ignored.
func refused(image, said string) bool {
	return says(strings.NewReplacer(repository(image), "", ownTrouble, "").Replace(strings.ToLower(said)), refusals)
}

// repository is an image's name without registry, tag and digest.
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

func (a Attempt) scheduleDeadline() time.Duration { return max(ScheduleDeadline, a.Patience) }

// atMost names a deadline, with spec.patienceSeconds if it comes from there.
func (a Attempt) atMost(d time.Duration) string {
	if d == a.Patience {
		return fmt.Sprintf("up to %s (spec.patienceSeconds)", d)
	}
	return fmt.Sprintf("up to %s", d)
}

// Awaited describes what the pods wait for, and how long; empty if nothing. Fault ends the wait.
func (a Attempt) Awaited() string {
	for _, p := range a.Pods {
		for _, c := range containers(p) {
			switch w := c.State.Waiting; {
			case w != nil && (w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff"):
				return fmt.Sprintf("waiting for %s for image %q on node %s: %s", a.atMost(a.pullDeadline(c.Image, w.Message)), c.Image, p.Spec.NodeName, w.Message)
			case unmade(w):
				return fmt.Sprintf("waiting for %s for node %s to start container %s of pod %s: %s", a.atMost(a.startDeadline(*w)), p.Spec.NodeName, c.Name, p.Name, w.Message)
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
