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

// Attempt is one try at a trial, as its pods show it at one instant.
type Attempt struct {
	// Pods are those that exist, in the order of the members.
	Pods []*corev1.Pod
	// Work is what the trial does.
	Work kind.Work
	// Trials are those of the run, the first of which binds the others to its nodes.
	Trials conduct.Trials
	// Follows is true of a trial that follows the blocks: it is compared with nothing that was measured, and waits for no node.
	Follows bool
	// Patience is how long the run waits for what may come back.
	Patience time.Duration
	// Unmounted is what kubelets say of volumes that they cannot mount, by the pod's name.
	Unmounted map[string]string
	// Now is the instant of the question.
	Now time.Time
}

// Settled is when the last of some pods found its node, or was made, if it has none, or when the last of their containers began, whose image may have
// been long in coming; zero if there are no pods.
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

// AwaitedNode returns which pod waits for the node that it is bound to, and what the scheduler says of it; empty if none does.
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

// boundTo returns a phrase that names the node to which a pod is bound and why; empty if it is not.
func (a Attempt) boundTo(p *corev1.Pod) string {
	node := a.Trials.Bound(a.Follows)[p.Labels[v1alpha1.LabelMember]]
	if node == "" {
		return ""
	}
	return fmt.Sprintf("node %s, where trial %s was measured: all trials of a run share their nodes", node, a.Trials.Binding().Name)
}

// Implementation is what a server's pod runs.
func Implementation(work kind.Work, p *corev1.Pod) record.Implementation {
	servers := work.Servers()
	index, err := record.ServerIndex(p.Labels[v1alpha1.LabelMember])
	if err != nil || index >= len(servers) {
		return servers[0]
	}
	return servers[index]
}

// Running reports whether the containers of a pod run, or have ended where they may: those of work that ends itself.
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

// ContainerStart is when a container of a pod began to run; of one that does not run, when its pod was created.
func ContainerStart(p *corev1.Pod, name string) time.Time {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == name && c.State.Running != nil {
			return c.State.Running.StartedAt.Time
		}
	}
	return p.CreationTimestamp.Time
}

// pullingSince is when the images of a pod's containers began to be pulled at the latest: after the agent was brought and after each dependency was
// ready, where there are any.
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

// since is when a condition of a pod became what it is. Nothing of a pod was so before its creation, however late the clock is of who says so.
func since(p *corev1.Pod, c corev1.PodCondition) time.Time {
	return latest(p.CreationTimestamp.Time, c.LastTransitionTime.Time)
}
