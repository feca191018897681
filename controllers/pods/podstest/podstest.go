// Package podstest makes the pods that tests speak of.
package podstest

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// Running returns a pod of a sweep's first attempt whose containers all run since the same instant.
func Running(trial, member string, since time.Time) *corev1.Pod {
	const attempt = 1
	yes := true
	role, containers := v1alpha1.RoleGenerator, []string{sweep.ProcessGenerator}
	if record.IsServer(member) {
		role, containers = v1alpha1.RoleServer, []string{sweep.ProcessServer, sweep.ProcessObserver}
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: render.PodName(trial, attempt, member), CreationTimestamp: metav1.Time{Time: since},
			Labels:          map[string]string{v1alpha1.LabelTrial: trial, v1alpha1.LabelAttempt: strconv.Itoa(attempt), v1alpha1.LabelRole: role, v1alpha1.LabelMember: member},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: trial, UID: "trial-uid", Controller: &yes}},
		},
		Spec:   corev1.PodSpec{NodeName: "n1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "192.0.2.1"},
	}
	for _, name := range containers {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name, Image: name + ":1"})
		s := corev1.ContainerStatus{Name: name, Image: name + ":1"}
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: since}}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	return p
}
