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
	// PullDeadline is the minimum time before a failing image pull counts as impossible, and the maximum if the registry refuses.
	PullDeadline = 20 * time.Second
	// ScheduleDeadline is the minimum time before a pod counts as unschedulable.
	ScheduleDeadline = 45 * time.Second
	// StartDeadline is the minimum time before a container counts as unstartable.
	StartDeadline = 45 * time.Second
	// ObjectDeadline is how long a named object may be missing: it may be applied after the run, and a kubelet retries within 15 s.
	ObjectDeadline = 20 * time.Second
)

// maxLastWords limits the quoted output of an ended container.
const maxLastWords = 300

// Fault returns why the attempt cannot continue; nil if it can, or may later.
func (a Attempt) Fault() *conduct.Failure {
	for _, p := range a.Pods {
		for _, check := range []func(Attempt, *corev1.Pod) *conduct.Failure{foreign, misaligned, lost, exited, unpullable, unstartable, unmountable, unschedulable} {
			if f := check(a, p); f != nil {
				return f
			}
		}
	}
	return nil
}

// foreign is the failure of a pod with a container that Loadstone did not create.
func foreign(a Attempt, p *corev1.Pod) *conduct.Failure {
	own := a.processes(p)
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if c.Name != render.Bringer && !slices.ContainsFunc(own, func(o kind.Process) bool { return o.Name == c.Name }) {
			return conduct.PermanentFailure(v1alpha1.ReasonPodRejected, "pod %s has a foreign container, %s: a webhook added it, such as that of a service mesh, "+
				"and with it the pod can be Burstable, without exclusive CPUs: exclude the pods by labels or annotations (spec.placement.pods), or use a namespace without it", p.Name, c.Name)
		}
	}
	return nil
}

// misaligned is the failure of a pod whose kubelet assigns whole cores and refuses to split one between its threads.
func misaligned(a Attempt, p *corev1.Pod) *conduct.Failure {
	if p.Status.Phase != corev1.PodFailed || p.Status.Reason != "SMTAlignmentError" || !strings.Contains(p.Status.Message, "not multiple") {
		return nil
	}
	field := "generators.cpus of the loads"
	if record.IsServer(p.Labels[v1alpha1.LabelMember]) {
		field = fmt.Sprintf("cpus of implementations[%s] and of its dependencies", Implementation(a.Work, p).Name)
	}
	return conduct.PermanentFailure(v1alpha1.ReasonPodRejected, "node %s assigns only whole cores (full-pcpus-only) and refuses pod %s: %s: "+
		"set %s to a multiple of the threads per core, such as 2", p.Spec.NodeName, p.Name, p.Status.Message, field)
}

func lost(a Attempt, p *corev1.Pod) *conduct.Failure {
	switch {
	case !p.DeletionTimestamp.IsZero():
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "another client deleted pod %s", p.Name)
	case overfull(p, a.measured(p)):
		return conduct.DiskFull(a.Work, Implementation(a.Work, p), a.filler(p), p.Status.Message)
	case p.Status.Phase == corev1.PodFailed && p.Status.Reason != "":
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s: %s: %s", p.Name, p.Status.Reason, p.Status.Message)
	case p.Status.Phase == corev1.PodUnknown:
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s: node %s is not responding", p.Name, p.Spec.NodeName)
	}
	return nil
}

// Expired returns a pod whose remaining lifetime is too short for the trial, because it waited too long after it was ready; nil if there is
// none.
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

// overfull reports whether a server's pod was evicted for exceeding its own disk limits, not because its node was short of disk. Agents write
// little, to a limited volume.
func overfull(p *corev1.Pod, measured string) bool {
	if p.Status.Phase != corev1.PodFailed || p.Status.Reason != "Evicted" || !record.IsServer(p.Labels[v1alpha1.LabelMember]) {
		return false
	}
	said := func(what string) bool { return strings.Contains(p.Status.Message, what) }
	return said("exceeds the total limit of containers") ||
		said(fmt.Sprintf("Container %s exceeded its local ephemeral storage limit", measured)) ||
		said(fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit", render.ExchangeVolume)) ||
		said(fmt.Sprintf("Usage of EmptyDir volume \"%s", render.ScratchVolume))
}

// measured is the name of a pod's first process, which is measured or measures.
func (a Attempt) measured(p *corev1.Pod) string {
	if own := a.processes(p); len(own) > 0 {
		return own[0].Name
	}
	return ""
}

// filler is the dependency that exceeded a volume's limit; empty if the kubelet names none.
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

func containers(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

func (a Attempt) isAgent(p *corev1.Pod, container string) bool {
	if container == render.Bringer {
		return true
	}
	return slices.ContainsFunc(a.processes(p), func(own kind.Process) bool { return own.Name == container && own.IsAgent() })
}

// exited is the failure of an ended container: a server's counts against the implementation, an agent's does not.
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

// terminated is how a container ended; nil if it runs. Kubelets restart dependencies, but none may end.
func terminated(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if c.State.Terminated != nil {
		return c.State.Terminated
	}
	return c.LastTerminationState.Terminated
}

// neverRan reports whether a container failed before its process ran, in the words of containerd and Docker.
func neverRan(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "StartError" || t.Reason == "ContainerCannotRun"
}

func begun(c corev1.ContainerStatus) bool { return c.State.Running != nil || terminated(c) != nil }

// followed reports whether a container after a dependency has started, which means that the dependency was ready.
func followed(p *corev1.Pod, dependency string) bool {
	at := slices.IndexFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == dependency })
	for _, later := range p.Spec.InitContainers[at+1:] {
		if slices.ContainsFunc(p.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == later.Name && begun(c) }) {
			return true
		}
	}
	return slices.ContainsFunc(p.Status.ContainerStatuses, begun)
}

func (a Attempt) dependency(p *corev1.Pod, container string) string {
	for _, own := range a.processes(p) {
		if own.Name == container {
			return own.Dependency
		}
	}
	return ""
}

func (a Attempt) processes(p *corev1.Pod) []kind.Process {
	if m := util.First(a.Work.Members(), func(m *kind.Member) bool { return m.Name == p.Labels[v1alpha1.LabelMember] }); m != nil {
		return m.Processes
	}
	return nil
}

func exitOf(t *corev1.ContainerStateTerminated) conduct.Exit {
	return conduct.Exit{Code: t.ExitCode, Reason: t.Reason, OutOfMemory: t.Reason == "OOMKilled", LastWords: util.Clip(strings.TrimSpace(t.Message), maxLastWords)}
}

// unpullable is the failure of an image pull: the spec's fault, except that temporary registry errors get the run's patience.
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

// bySecrets is advice about pull Secrets: the kubelet silently skips missing ones.
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

func (a Attempt) field(p *corev1.Pod, container string) string {
	field := fmt.Sprintf("implementations[%s]", Implementation(a.Work, p).Name)
	if name := a.dependency(p, container); name != "" {
		field += fmt.Sprintf(".dependencies[%s]", name)
	}
	return field
}

// unstartable is the failure of a container that does not start: the fault of the spec or image, except that node trouble gets the run's
// patience.
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

const unconfigured = "CreateContainerConfigError"

// unmade reports whether a container waits because it could not be created or started.
func unmade(w *corev1.ContainerStateWaiting) bool {
	return w != nil && slices.Contains([]string{unconfigured, "CreateContainerError", "RunContainerError"}, w.Reason)
}

func unstarted(p *corev1.Pod, name, said string) *conduct.Failure {
	return conduct.TransientFailure(v1alpha1.ReasonPodLost, "node %s did not start container %s of pod %s: %s", p.Spec.NodeName, name, p.Name, said)
}

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
			return nil // The run waits for its node, since its results are only comparable there.
		}
		return conduct.PermanentFailure(v1alpha1.ReasonUnschedulable, "pod %s was not scheduled within %s: %s: free CPUs, label nodes with %s, or raise spec.patienceSeconds", p.Name, a.scheduleDeadline(), c.Message, v1alpha1.LabelRole)
	}
	return nil
}
