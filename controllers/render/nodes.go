package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
)

// bind lets a pod run on the named nodes only; no names leave it as it is. They need no label any more: a node that was chosen stays
// chosen, even if somebody takes its label away.
func bind(pod *corev1.Pod, nodes ...string) {
	if len(nodes) == 0 {
		return
	}
	pod.Spec.NodeSelector = nil
	var terms []corev1.NodeSelectorTerm
	for _, name := range nodes {
		// By the node's own name: its hostname label may be another. A field takes one value.
		terms = append(terms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{name},
		}}})
	}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}

// roomy are the nodes for servers that can hold the largest server of the run, where some cannot: the run will be bound to the node of
// its first trial, which may be that of a smaller one.
func roomy(o PodOptions) []string {
	selector := plan.Selector(o.Nodes, v1alpha1.RoleServer)
	var fit []string
	small := false
	for _, n := range o.Nodes {
		if selector != nil && n.Role != v1alpha1.RoleServer {
			continue
		}
		if n.Has(o.LargestServer) {
			fit = append(fit, n.Name)
		} else {
			small = true
		}
	}
	if !small {
		return nil
	}
	slices.Sort(fit)
	return fit
}
