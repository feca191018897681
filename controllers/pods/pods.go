package pods

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Attempt is one attempt at a trial, with its pods at one instant.
type Attempt struct {
	Pods []*corev1.Pod
	Work kind.Work
	// Trials are the trials of the run. The first stored one binds the others to its nodes.
	Trials  conduct.Trials
	Follows bool
	// Patience is spec.patienceSeconds.
	Patience time.Duration
	// Unmounted are the kubelets' mount errors by pod name.
	Unmounted map[string]string
	Now       time.Time
}

// Settled is when the last pod was scheduled (or created, if unscheduled), or when its last container started after a slow image pull; zero
// without pods.
func Settled(pods []*corev1.Pod) time.Time {
	var last time.Time
	for _, p := range pods {
		last = latest(last, scheduledAt(p))
		for _, c := range containers(p) {
			if c.State.Running != nil {
				last = latest(last, c.State.Running.StartedAt.Time)
			}
			if c.State.Terminated != nil {
				last = latest(last, c.State.Terminated.StartedAt.Time)
			}
		}
	}
	return last
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// AwaitedNode describes a pod that waits for its bound node, with the scheduler's message; empty if there is none.
func (a Attempt) AwaitedNode() string {
	for _, p := range a.Pods {
		to := a.boundTo(p)
		if to == "" || p.Spec.NodeName != "" {
			continue
		}
		text := fmt.Sprintf("pod %s is waiting for %s", p.Name, to)
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				text += fmt.Sprintf(": %s: restore the node or free its resources, or start a new run", c.Message)
			}
		}
		return text
	}
	return ""
}

// boundTo names the node that a pod is bound to and why; empty if it is not bound.
func (a Attempt) boundTo(p *corev1.Pod) string {
	node := a.Trials.Bound(a.Follows)[p.Labels[v1alpha1.LabelMember]]
	if node == "" {
		return ""
	}
	return fmt.Sprintf("node %s, where trial %s was measured: all trials of a run share their nodes", node, a.Trials.Binding().Name)
}

// Implementation returns the implementation of a pod by its member label; the first one if the pod has no server.
func Implementation(work kind.Work, p *corev1.Pod) record.Implementation {
	servers := work.Servers()
	index, err := record.ServerIndex(p.Labels[v1alpha1.LabelMember])
	if err != nil || index >= len(servers) {
		return servers[0]
	}
	return servers[index]
}

// Running reports whether a pod's containers run, or have ended if their work ends itself.
func Running(p *corev1.Pod, endsItself bool) bool {
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

// ContainerStart is when a container started, or else when its pod was created.
func ContainerStart(p *corev1.Pod, name string) time.Time {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == name && c.State.Running != nil {
			return c.State.Running.StartedAt.Time
		}
	}
	return p.CreationTimestamp.Time
}

// pullingSince is when image pulls last began: after the agent was copied, and after each dependency was ready.
func pullingSince(p *corev1.Pod) time.Time {
	began := scheduledAt(p)
	for _, c := range p.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil {
			began = latest(began, t.FinishedAt.Time)
		}
		if r := c.State.Running; r != nil {
			began = latest(began, r.StartedAt.Time)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodInitialized && c.Status == corev1.ConditionTrue {
			began = latest(began, c.LastTransitionTime.Time)
		}
	}
	return began
}

func scheduledAt(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return since(p, c)
		}
	}
	return p.CreationTimestamp.Time
}

// since is a condition's transition time, but not before the pod's creation: clocks may differ.
func since(p *corev1.Pod, c corev1.PodCondition) time.Time {
	return latest(p.CreationTimestamp.Time, c.LastTransitionTime.Time)
}
