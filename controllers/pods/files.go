package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// absences are the kubelet's words for a missing object or key.
var absences = []string{"not found", "non-existent", "couldn't find"}

// AwaitFiles returns the pods that wait for ConfigMaps or Secrets to mount.
func (a Attempt) AwaitFiles() []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range a.Pods {
		if p.Spec.NodeName != "" && !mounted(p) && slices.ContainsFunc(p.Spec.Volumes, holdsFiles) {
			out = append(out, p)
		}
	}
	return out
}

// mounted reports whether all volumes of a pod are mounted: the kubelet mounts them before it creates the sandbox and pulls images. Earlier
// mount events remain for an hour.
func mounted(p *corev1.Pod) bool {
	return slices.ContainsFunc(containers(p), begun) || slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionTrue
	})
}

// holdsFiles reports whether a volume comes from a user's object.
func holdsFiles(v corev1.Volume) bool { return v.ConfigMap != nil || v.Secret != nil }

// missing is the failure of a pod with a missing object or key, in the kubelet's words; nil otherwise. It is the only source for Secrets,
// which the operator cannot read.
func missing(a Attempt, p *corev1.Pod, said string) *conduct.Failure {
	for _, u := range Implementation(a.Work, p).Uses() {
		kind, name := u.Object.Named()
		// A kubelet names the resource, an API server its plural.
		absent := fmt.Sprintf("%s %q not found", strings.ToLower(kind), name)
		switch {
		case strings.Contains(said, absent), strings.Contains(said, strings.Replace(absent, " ", "s ", 1)):
			return conduct.PermanentFailure(v1alpha1.ReasonObjectMissing, "%s", u.Absent(p.Namespace))
		case u.Key != "" && strings.Contains(said, fmt.Sprintf("couldn't find key %s in %s %s/%s", u.Key, kind, p.Namespace, name)):
			return conduct.PermanentFailure(v1alpha1.ReasonObjectMissing, "%s", u.WithoutKey())
		}
	}
	return nil
}

// Starting describes pods that do not run yet.
func (a Attempt) Starting() string {
	for _, p := range a.Pods {
		if said := a.Unmounted[p.Name]; said != "" {
			return "pod " + p.Name + " is starting: " + said
		}
	}
	return "pods are starting"
}

// unmountable is the failure of a pod whose object is still missing; it may be applied after the run.
func unmountable(a Attempt, p *corev1.Pod) *conduct.Failure {
	said := a.Unmounted[p.Name]
	if !says(said, absences) || a.Now.Sub(scheduledAt(p)) < ObjectDeadline {
		return nil
	}
	if f := missing(a, p, said); f != nil {
		return f
	}
	reason, own := v1alpha1.ReasonServerExited, Implementation(a.Work, p)
	if a.Work.EndsItself() {
		reason = v1alpha1.ReasonProgramFailed
	}
	return conduct.PermanentFailure(reason, "%s of pod %s cannot be started: %s: correct the files of implementations[%s] and of its dependencies, or create the ConfigMap or Secret", own.Name, p.Name, said, own.Name)
}
