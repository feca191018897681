package render

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// NetworkPolicy keeps the pods of a run to themselves: they and whom the rules name reach each other, and nobody else does. Rules are those of an
// installation, the same for every run.
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

// PolicyName is the name of a run's NetworkPolicy. That of an earlier run of the same name is another.
func PolicyName(run *v1alpha1.BenchmarkRun) string {
	return run.Name + "-" + string(run.UID[:min(8, len(run.UID))])
}
