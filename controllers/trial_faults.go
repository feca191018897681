package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/render"
)

// podFault says why the pods of an attempt can no longer be measured; nil if they can, or may yet.
func podFault(s *trialScope) *fault {
	for _, p := range s.pods() {
		for _, check := range []func(*trialScope, *corev1.Pod) *fault{lost, exited, unpullable, unschedulable} {
			if f := check(s, p); f != nil {
				return f
			}
		}
	}
	return nil
}

// lost pods were deleted, evicted or refused by their node: a fault from outside.
func lost(_ *trialScope, p *corev1.Pod) *fault {
	switch {
	case !p.DeletionTimestamp.IsZero():
		return outsideFault(v1alpha1.ReasonPodLost, "pod %s was deleted by somebody", p.Name)
	case p.Status.Phase == corev1.PodFailed && p.Status.Reason != "":
		return outsideFault(v1alpha1.ReasonPodLost, "pod %s: %s: %s", p.Name, p.Status.Reason, p.Status.Message)
	case p.Status.Phase == corev1.PodUnknown:
		return outsideFault(v1alpha1.ReasonPodLost, "pod %s: its node %s does not answer", p.Name, p.Spec.NodeName)
	}
	return nil
}

// exited containers end the attempt: the server's is the implementation's fault, an agent's is not.
func exited(s *trialScope, p *corev1.Pod) *fault {
	for _, c := range p.Status.ContainerStatuses {
		t := c.State.Terminated
		if t == nil {
			continue
		}
		if c.Name != render.ServerContainer {
			return outsideFault(v1alpha1.ReasonAgentLost, "container %s of pod %s ended (%s)", c.Name, p.Name, lastWords(t))
		}
		impl := s.implementationOf(p)
		if t.Reason == "OOMKilled" {
			return ownFault(v1alpha1.ReasonServerExited, "implementations[%s] was killed for using more than its memory of %s: raise implementations[].memory", impl.Name, impl.Memory)
		}
		return ownFault(v1alpha1.ReasonServerExited, "implementations[%s] ended by itself (%s)", impl.Name, lastWords(t))
	}
	return nil
}

func lastWords(t *corev1.ContainerStateTerminated) string {
	words := fmt.Sprintf("exit code %d, %s", t.ExitCode, t.Reason)
	if m := strings.TrimSpace(t.Message); m != "" {
		words += fmt.Sprintf(", its last words: %q", clip(m, 300))
	}
	return words
}

// unpullable images are the spec's fault; a registry that stumbles gets pullDeadline.
func unpullable(s *trialScope, p *corev1.Pod) *fault {
	for _, c := range p.Status.ContainerStatuses {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff":
			if s.now.Sub(scheduledAt(p)) < pullDeadline {
				continue
			}
		case "InvalidImageName", "ErrImageNeverPull":
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return ownFault(v1alpha1.ReasonServerExited, "container %s with image %q cannot be started: %s: check implementations[].command", c.Name, c.Image, w.Message)
		default:
			continue
		}
		field := fmt.Sprintf("implementations[%s].image", s.implementationOf(p).Name)
		if c.Name != render.ServerContainer {
			field = "the operator's agent image (chart value images.agent)"
		}
		return ownFault(v1alpha1.ReasonImagePull, "%s: %q cannot be pulled on node %s: %s: correct the name, or load the image into the node", field, c.Image, p.Spec.NodeName, w.Message)
	}
	return nil
}

func unschedulable(s *trialScope, p *corev1.Pod) *fault {
	for _, c := range p.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse || s.now.Sub(c.LastTransitionTime.Time) <= scheduleDeadline {
			continue
		}
		if to := s.boundTo(p); to != "" {
			return outsideFault(v1alpha1.ReasonUnschedulable, "pod %s waited %s for %s: %s: bring the node back or free its CPUs, or start a new run", p.Name, scheduleDeadline, to, c.Message)
		}
		return outsideFault(v1alpha1.ReasonUnschedulable, "pod %s found no node within %s: %s: free CPUs, or label nodes with %s", p.Name, scheduleDeadline, c.Message, v1alpha1.LabelRole)
	}
	return nil
}

// hopeless says of an ended trial that its implementation failed before anything was measured, by a fault that every
// further trial would show again.
func hopeless(t *v1alpha1.Trial) bool {
	switch c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded); {
	case c == nil || c.Status != metav1.ConditionFalse:
		return false
	case c.Reason == v1alpha1.ReasonServerExited:
		return t.Status.StartTime == nil
	default:
		return slices.Contains([]string{
			v1alpha1.ReasonImagePull, v1alpha1.ReasonServerNotListening, v1alpha1.ReasonWrongResponse,
			v1alpha1.ReasonPodRejected, v1alpha1.ReasonUnschedulable, v1alpha1.ReasonLoadImpossible,
		}, c.Reason)
	}
}

// sameFault is the hopeless fault that an earlier trial of the same implementation has shown; nil if there is none.
func (s *trialScope) sameFault() *fault {
	for i := range s.siblings {
		t := &s.siblings[i]
		if t.Name == s.trial.Name || t.Status.CompletionTime == nil || !hopeless(t) {
			continue
		}
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded)
		// The nodes of a bound run have held its trials before: a node that is away may come back.
		if nodes, _ := boundNodes(s.siblings); c.Reason == v1alpha1.ReasonUnschedulable && nodes != nil {
			continue
		}
		// A load that cannot be made cannot be made for any implementation.
		if !sameServers(t, s.trial) && c.Reason != v1alpha1.ReasonLoadImpossible {
			continue
		}
		return ownFault(c.Reason, "not tried, since trial %s has shown it: %s", t.Name, c.Message)
	}
	return nil
}

func running(p *corev1.Pod) bool {
	if p.Status.PodIP == "" || len(p.Status.ContainerStatuses) < len(p.Spec.Containers) {
		return false
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running == nil {
			return false
		}
	}
	return true
}

func containerStart(p *corev1.Pod, name string) time.Time {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == name && c.State.Running != nil {
			return c.State.Running.StartedAt.Time
		}
	}
	return p.CreationTimestamp.Time
}

func scheduledAt(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return p.CreationTimestamp.Time
}
