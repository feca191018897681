package pods

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
)

// absences are words of a kubelet for what it looks for in vain: an object, and a key of one.
var absences = []string{"not found", "non-existent", "couldn't find"}

// AwaitFiles returns the pods that wait for ConfigMaps or Secrets whose files they shall hold.
func (a Attempt) AwaitFiles() []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range a.Pods {
		if p.Spec.NodeName != "" && !mounted(p) && slices.ContainsFunc(p.Spec.Volumes, holdsFiles) {
			out = append(out, p)
		}
	}
	return out
}

// mounted reports whether all volumes of a pod are there. A kubelet mounts them before it makes the pod's sandbox, and that before it pulls the first
// image; what it has said of them before stays for an hour.
func mounted(p *corev1.Pod) bool {
	return slices.ContainsFunc(containers(p), begun) || slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionTrue
	})
}

// holdsFiles reports whether a volume is made of an object of the user's.
func holdsFiles(v corev1.Volume) bool { return v.ConfigMap != nil || v.Secret != nil }

// Starting says what pods that do not run yet are doing.
func (a Attempt) Starting() string {
	for _, p := range a.Pods {
		if said := a.Unmounted[p.Name]; said != "" {
			return "pod " + p.Name + " is starting: " + said
		}
	}
	return "pods are starting"
}

// unmountable pods shall hold files of an object that is not there: whoever applies it with the run may do so after it.
func unmountable(a Attempt, p *corev1.Pod) *conduct.Failure {
	said := a.Unmounted[p.Name]
	if !says(said, absences) || a.Now.Sub(scheduledAt(p)) < StartDeadline {
		return nil
	}
	reason, own := v1alpha1.ReasonServerExited, Implementation(a.Work, p)
	if a.Work.EndsItself() {
		reason = v1alpha1.ReasonProgramFailed
	}
	return conduct.PermanentFailure(reason, "%s of pod %s cannot be started: %s: correct the files of implementations[%s] and of its dependencies, or make the ConfigMap or Secret", own.Name, p.Name, said, own.Name)
}
