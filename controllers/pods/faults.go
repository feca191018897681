package pods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind"
)

const (
	// PullDeadline is how long an image pull may at least fail before it counts as impossible, and at most where its registry says so.
	PullDeadline = 20 * time.Second
	// ScheduleDeadline is how long a pod may at least find no node.
	ScheduleDeadline = 45 * time.Second
	// StartDeadline is how long a container may at least fail to be started.
	StartDeadline = 45 * time.Second
	// ObjectDeadline is how long an object that a container names may be missing: whoever applies it with the run may do so after it, and a kubelet that
	// could not make a container looks again within 15 s.
	ObjectDeadline = 20 * time.Second
)

// maxLastWords bounds what is quoted of a container that has ended.
const maxLastWords = 300

// Fault returns why the pods of an attempt can no longer be measured; nil if they can, or may yet.
func (a Attempt) Fault() *conduct.Failure {
	for _, p := range a.Pods {
		for _, check := range []func(Attempt, *corev1.Pod) *conduct.Failure{lost, exited, unpullable, unstartable, unmountable, unschedulable} {
			if f := check(a, p); f != nil {
				return f
			}
		}
	}
	return nil
}

// lost pods were deleted, evicted or refused by their node: a failure of the infrastructure.
func lost(a Attempt, p *corev1.Pod) *conduct.Failure {
	switch {
	case !p.DeletionTimestamp.IsZero():
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s was deleted by another client", p.Name)
	case overfull(p):
		return conduct.DiskFull(a.Work, Implementation(a.Work, p), a.filler(p), p.Status.Message)
	case p.Status.Phase == corev1.PodFailed && p.Status.Reason != "":
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s: %s: %s", p.Name, p.Status.Reason, p.Status.Message)
	case p.Status.Phase == corev1.PodUnknown:
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s: node %s is not responding", p.Name, p.Spec.NodeName)
	}
	return nil
}

// Expired returns the pod of an attempt that is to start now, needs some time until its files are stored, and lives no longer, because it has waited since it
// was ready; nil if there is none. Another would have enough.
func (a Attempt) Expired(needs time.Duration) *corev1.Pod {
	for _, p := range a.Pods {
		if p.Status.StartTime == nil || p.Spec.ActiveDeadlineSeconds == nil {
			continue
		}
		end := p.Status.StartTime.Add(time.Duration(*p.Spec.ActiveDeadlineSeconds) * time.Second)
		enough := !Settled([]*corev1.Pod{p}).Add(needs).After(end)
		if enough && (p.Status.Reason == "DeadlineExceeded" || a.Now.Add(needs).After(end)) {
			return p
		}
	}
	return nil
}

// overfull reports whether the kubelet has evicted a server's pod for what was written in it beyond its limits: what an agent writes is little,
// and bounded by a volume of its own. Where the node was short of disk, somebody else may have filled it.
func overfull(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodFailed || p.Status.Reason != "Evicted" || !record.IsServer(p.Labels[v1alpha1.LabelMember]) {
		return false
	}
	said := func(what string) bool { return strings.Contains(p.Status.Message, what) }
	return said("exceeds the total limit of containers") ||
		said(fmt.Sprintf("Container %s exceeded its local ephemeral storage limit", p.Spec.Containers[0].Name)) ||
		said(fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit", render.ExchangeVolume)) ||
		said(fmt.Sprintf("Usage of EmptyDir volume \"%s", render.ScratchVolume))
}

// filler is the dependency that has filled a folder of its own, as the kubelet says; empty if it names none.
func (a Attempt) filler(p *corev1.Pod) string {
	for _, own := range a.processes(p) {
		for i := range own.Container.Scratch {
			if own.Dependency != "" && strings.Contains(p.Status.Message, fmt.Sprintf("volume %q", render.Scratch(own, i))) {
				return own.Dependency
			}
		}
	}
	return ""
}

// containers are the states of all containers of a pod, the one that brings the agent into another's image among them.
func containers(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

// isAgent reports whether a container of a pod is Loadstone's own.
func (a Attempt) isAgent(p *corev1.Pod, container string) bool {
	if container == render.Bringer {
		return true
	}
	return slices.ContainsFunc(a.processes(p), func(own kind.Process) bool { return own.Name == container && own.IsAgent() })
}

// exited containers end the attempt: the failure of a server is the implementation's, that of an agent is not.
func exited(a Attempt, p *corev1.Pod) *conduct.Failure {
	for _, c := range containers(p) {
		t := terminated(c)
		if t == nil || c.Name == render.Bringer && t.ExitCode == 0 {
			continue
		}
		if neverRan(t) && stumbled(t.Message) {
			return unstarted(p, c.Name, t.Message)
		}
		if a.isAgent(p, c.Name) {
			return conduct.AgentExited(fmt.Sprintf("container %s of pod %s", c.Name, p.Name), exitOf(t))
		}
		if name := a.dependency(p, c.Name); name != "" {
			return conduct.DependencyEnded(Implementation(a.Work, p), name, exitOf(t), followed(p, c.Name), t.FinishedAt.Sub(t.StartedAt.Time))
		}
		if f := conduct.ServerExited(a.Work, Implementation(a.Work, p), exitOf(t)); f != nil {
			return f
		}
	}
	return nil
}

// terminated is how a container has ended; nil if it has not. A kubelet starts a dependency again that has ended, and none may end.
func terminated(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if c.State.Terminated != nil {
		return c.State.Terminated
	}
	return c.LastTerminationState.Terminated
}

// neverRan reports whether a container was given up before its process ran, as containerd and Docker say it.
func neverRan(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "StartError" || t.Reason == "ContainerCannotRun"
}

// begun reports whether a container has been started.
func begun(c corev1.ContainerStatus) bool { return c.State.Running != nil || terminated(c) != nil }

// followed reports whether a container of a pod has been started that comes after a dependency, which was ready then.
func followed(p *corev1.Pod, dependency string) bool {
	at := slices.IndexFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == dependency })
	for _, later := range p.Spec.InitContainers[at+1:] {
		if slices.ContainsFunc(p.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == later.Name && begun(c) }) {
			return true
		}
	}
	return slices.ContainsFunc(p.Status.ContainerStatuses, begun)
}

// dependency is the name of the dependency that a container of a pod is; empty if it is none.
func (a Attempt) dependency(p *corev1.Pod, container string) string {
	for _, own := range a.processes(p) {
		if own.Name == container {
			return own.Dependency
		}
	}
	return ""
}

// processes are those of the member of the trial that a pod is.
func (a Attempt) processes(p *corev1.Pod) []kind.Process {
	if m := util.First(a.Work.Members(), func(m *kind.Member) bool { return m.Name == p.Labels[v1alpha1.LabelMember] }); m != nil {
		return m.Processes
	}
	return nil
}

func exitOf(t *corev1.ContainerStateTerminated) conduct.Exit {
	return conduct.Exit{Code: t.ExitCode, Reason: t.Reason, OutOfMemory: t.Reason == "OOMKilled", LastWords: util.Clip(strings.TrimSpace(t.Message), maxLastWords)}
}

// unpullable images are the spec's fault; a registry that stumbles gets the run's patience.
func unpullable(a Attempt, p *corev1.Pod) *conduct.Failure {
	for _, c := range containers(p) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff":
			if a.Now.Sub(pullingSince(p)) < a.pullDeadline(c.Image, w.Message) {
				continue
			}
		case "InvalidImageName", "ErrImageNeverPull":
		default:
			continue
		}
		field := a.field(p, c.Name) + ".image"
		if a.isAgent(p, c.Name) {
			field = "the operator's agent image (chart value images.agent)"
		}
		return conduct.PermanentFailure(v1alpha1.ReasonImagePull, "%s: %q cannot be pulled on node %s: %s: correct the name, or load the image into the node%s",
			field, c.Image, p.Spec.NodeName, w.Message, bySecrets(p, w.Reason))
	}
	return nil
}

// bySecrets is the way out for a pod that pulls its images by Secrets: kubelet pulls without those that are missing, and says nothing of them here.
func bySecrets(p *corev1.Pod, reason string) string {
	if len(p.Spec.ImagePullSecrets) == 0 || reason == "InvalidImageName" || reason == "ErrImageNeverPull" {
		return ""
	}
	var names []string
	for _, secret := range p.Spec.ImagePullSecrets {
		names = append(names, secret.Name)
	}
	return fmt.Sprintf(", or check that the pull Secrets %s in namespace %s exist and allow it", strings.Join(names, ", "), p.Namespace)
}

// field is the part of the spec that a container of a pod, which is none of Loadstone's, is made of.
func (a Attempt) field(p *corev1.Pod, container string) string {
	field := fmt.Sprintf("implementations[%s]", Implementation(a.Work, p).Name)
	if name := a.dependency(p, container); name != "" {
		field += fmt.Sprintf(".dependencies[%s]", name)
	}
	return field
}

// unstartable containers are the spec's fault or the image's, unless the node says that it is in trouble, which gets the run's patience.
func unstartable(a Attempt, p *corev1.Pod) *conduct.Failure {
	for _, c := range containers(p) {
		w := c.State.Waiting
		switch {
		case !unmade(w) || a.Now.Sub(pullingSince(p)) < a.startDeadline(*w):
			continue
		case a.isAgent(p, c.Name):
			return conduct.TransientFailure(v1alpha1.ReasonAgentFailed, "container %s of pod %s cannot be started: %s", c.Name, p.Name, w.Message)
		case stumbled(w.Message):
			return unstarted(p, c.Name, w.Message)
		}
		return misconfigured(a, p, c.Name, c.Image, *w)
	}
	return nil
}

// unconfigured is why a container waits whose variables or user its kubelet cannot make of the spec.
const unconfigured = "CreateContainerConfigError"

// unmade reports whether a container waits because its kubelet could not make or start it.
func unmade(w *corev1.ContainerStateWaiting) bool {
	return w != nil && slices.Contains([]string{unconfigured, "CreateContainerError", "RunContainerError"}, w.Reason)
}

// unstarted is the failure of a node that is too troubled to start a container.
func unstarted(p *corev1.Pod, name, said string) *conduct.Failure {
	return conduct.TransientFailure(v1alpha1.ReasonPodLost, "node %s did not start container %s of pod %s: %s", p.Spec.NodeName, name, p.Name, said)
}

// misconfigured is a container that its kubelet cannot make of what the spec gives.
func misconfigured(a Attempt, p *corev1.Pod, name, image string, why corev1.ContainerStateWaiting) *conduct.Failure {
	fields := "command"
	if why.Reason == unconfigured {
		if f := missing(a, p, why.Message); f != nil {
			return f
		}
		fields = "env, envFrom and user"
	}
	reason := v1alpha1.ReasonServerExited
	switch {
	case a.dependency(p, name) != "":
		reason = v1alpha1.ReasonDependencyFailed
	case a.Work.EndsItself():
		reason = v1alpha1.ReasonProgramFailed
	}
	return conduct.PermanentFailure(reason, "container %s with image %q cannot be started: %s: check %s of %s", name, image, why.Message, fields, a.field(p, name))
}

func unschedulable(a Attempt, p *corev1.Pod) *conduct.Failure {
	for _, c := range p.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse || a.Now.Sub(since(p, c)) <= a.scheduleDeadline() {
			continue
		}
		if a.boundTo(p) != "" {
			return nil // The run waits for its node: what it has measured there can be compared with nothing from elsewhere.
		}
		return conduct.PermanentFailure(v1alpha1.ReasonUnschedulable, "pod %s was not scheduled within %s: %s: free CPUs, label nodes with %s, or raise spec.patienceSeconds", p.Name, a.scheduleDeadline(), c.Message, v1alpha1.LabelRole)
	}
	return nil
}
