package render

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/record"
)

// duetPod is one of the two servers of a duet. It asks for a fraction of a CPU and has no limit: so the kubelet leaves it on the CPUs
// that its node's pods share and gives it no quota, and its observer can put it on the one CPU that both servers share. The second
// one follows the first to its node.
func duetPod(t *v1alpha1.Trial, sweep plan.Sweep, index int, o PodOptions) *corev1.Pod {
	pod := serverPod(t, sweep, index, o)
	server := &pod.Spec.Containers[0]
	server.Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(plan.DuetMilliCPU, resource.DecimalSI)
	delete(server.Resources.Limits, corev1.ResourceCPU)
	if index > 0 {
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: together(t, o)}
	}
	return pod
}

// together puts a pod on the node of the trial's server.
func together(t *v1alpha1.Trial, o PodOptions) *corev1.PodAffinity {
	return &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			v1alpha1.LabelRunUID: o.RunUID, v1alpha1.LabelTrial: t.Name, v1alpha1.LabelMember: record.MemberServer(0),
			v1alpha1.LabelAttempt: strconv.Itoa(int(o.Attempt)),
		}},
	}}}
}
