package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// NetworkPolicy isolates the pods of a run: only they and the peers of the rules reach each other. The rules come from the installation.
func NetworkPolicy(run *v1alpha1.BenchmarkRun, rules networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	own := metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRunUID: string(run.UID)}}
	each := []networkingv1.NetworkPolicyPeer{{PodSelector: &own}}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: owned(run, PolicyName(run)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: own,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     slices.Concat([]networkingv1.NetworkPolicyIngressRule{{From: each}}, rules.Ingress),
			Egress:      slices.Concat([]networkingv1.NetworkPolicyEgressRule{{To: each}}, rules.Egress),
		},
	}
}

// PolicyName is the name of a run's NetworkPolicy. Earlier runs with the same name have another one.
func PolicyName(run *v1alpha1.BenchmarkRun) string {
	return run.Name + "-" + string(run.UID[:min(8, len(run.UID))])
}

// AgentPod is a pod like Argo's agent pod, for a dry run against admission. Two variables of Argo's controller can change its limits.
func AgentPod(namespace, workflow, serviceAccount string) *corev1.Pod {
	resources := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64M")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256M")},
	}
	container := corev1.Container{Name: "main", Image: "argoexec", Resources: resources, SecurityContext: &corev1.SecurityContext{
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, Privileged: ptr(false), RunAsNonRoot: ptr(true), RunAsUser: ptr(int64(8737)),
		ReadOnlyRootFilesystem: ptr(true), AllowPrivilegeEscalation: ptr(false),
	}}
	first := *container.DeepCopy()
	first.Name = "init"
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: workflow + "-agent-", Labels: map[string]string{"workflows.argoproj.io/workflow": workflow}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyOnFailure, ServiceAccountName: serviceAccount, AutomountServiceAccountToken: ptr(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr(true), RunAsUser: ptr(int64(8737)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			InitContainers:  []corev1.Container{first}, Containers: []corev1.Container{container},
		},
	}
}
