package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/pass"
)

// maxLastWords bounds what is quoted of a container that has ended.
const maxLastWords = 300

// podFault returns why the pods of an attempt can no longer be measured; nil if they can, or may yet.
func podFault(s *trialScope) *conduct.Failure {
	for _, p := range s.pods() {
		for _, check := range []func(*trialScope, *corev1.Pod) *conduct.Failure{lost, exited, unpullable, unschedulable} {
			if f := check(s, p); f != nil {
				return f
			}
		}
	}
	return nil
}

// lost pods were deleted, evicted or refused by their node: a failure of the infrastructure.
func lost(_ *trialScope, p *corev1.Pod) *conduct.Failure {
	switch {
	case !p.DeletionTimestamp.IsZero():
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s was deleted by another client", p.Name)
	case p.Status.Phase == corev1.PodFailed && p.Status.Reason != "":
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s: %s: %s", p.Name, p.Status.Reason, p.Status.Message)
	case p.Status.Phase == corev1.PodUnknown:
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s: node %s is not responding", p.Name, p.Spec.NodeName)
	}
	return nil
}

// isAgent reports whether a container of a pod is Loadstone's own.
func (s *trialScope) isAgent(p *corev1.Pod, container string) bool {
	for _, m := range s.work().Members() {
		if m.Name == p.Labels[v1alpha1.LabelMember] {
			return slices.ContainsFunc(m.Processes, func(own kind.Process) bool { return own.Name == container && own.IsAgent() })
		}
	}
	return false
}

// exited containers end the attempt: the failure of a server is the implementation's, that of an agent is not.
func exited(s *trialScope, p *corev1.Pod) *conduct.Failure {
	for _, c := range p.Status.ContainerStatuses {
		t := c.State.Terminated
		if t == nil {
			continue
		}
		if s.isAgent(p, c.Name) {
			return conduct.AgentExited(fmt.Sprintf("container %s of pod %s", c.Name, p.Name), exitOf(t))
		}
		if f := conduct.ServerExited(s.work(), s.implementationOf(p), exitOf(t)); f != nil {
			return f
		}
	}
	return nil
}

func exitOf(t *corev1.ContainerStateTerminated) conduct.Exit {
	return conduct.Exit{Code: t.ExitCode, Reason: t.Reason, OutOfMemory: t.Reason == "OOMKilled", LastWords: pass.Clip(strings.TrimSpace(t.Message), maxLastWords)}
}

// unpullable images are the spec's fault; a registry that stumbles gets pullDeadline.
func unpullable(s *trialScope, p *corev1.Pod) *conduct.Failure {
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
			if s.isAgent(p, c.Name) {
				return conduct.TransientFailure(v1alpha1.ReasonAgentFailed, "container %s of pod %s cannot be started: %s", c.Name, p.Name, w.Message)
			}
			return conduct.PermanentFailure(v1alpha1.ReasonServerExited, "container %s with image %q cannot be started: %s: check implementations[].command", c.Name, c.Image, w.Message)
		default:
			continue
		}
		field := fmt.Sprintf("implementations[%s].image", s.implementationOf(p).Name)
		if s.isAgent(p, c.Name) {
			field = "the operator's agent image (chart value images.agent)"
		}
		return conduct.PermanentFailure(v1alpha1.ReasonImagePull, "%s: %q cannot be pulled on node %s: %s: correct the name, or load the image into the node", field, c.Image, p.Spec.NodeName, w.Message)
	}
	return nil
}

func unschedulable(s *trialScope, p *corev1.Pod) *conduct.Failure {
	for _, c := range p.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse || s.now.Sub(c.LastTransitionTime.Time) <= scheduleDeadline {
			continue
		}
		if to := s.boundTo(p); to != "" {
			return conduct.TransientFailure(v1alpha1.ReasonUnschedulable, "pod %s waited %s for %s: %s: bring the node back or free its CPUs, or start a new run", p.Name, scheduleDeadline, to, c.Message)
		}
		return conduct.TransientFailure(v1alpha1.ReasonUnschedulable, "pod %s was not scheduled within %s: %s: free CPUs, or label nodes with %s", p.Name, scheduleDeadline, c.Message, v1alpha1.LabelRole)
	}
	return nil
}

// running is true of a pod whose containers run, or have ended as those may that end by themselves.
func running(p *corev1.Pod, endsItself bool) bool {
	if p.Status.PodIP == "" || len(p.Status.ContainerStatuses) < len(p.Spec.Containers) {
		return false
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running == nil && (!endsItself || c.State.Terminated == nil) {
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
