package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
)

func TestThePodsOfARunReachEachOtherAndWhomTheInstallationNames(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "quick", Namespace: "team", UID: "0a1b2c3d-4e5f"}}
	port := intstr.FromInt32(9000)
	rules := networkingv1.NetworkPolicySpec{
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"component": "operator"}}}}}},
		Egress:  []networkingv1.NetworkPolicyEgressRule{{Ports: []networkingv1.NetworkPolicyPort{{Port: &port}}}},
	}
	got := render.NetworkPolicy(run, rules)
	own := metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRunUID: "0a1b2c3d-4e5f"}}
	each := []networkingv1.NetworkPolicyPeer{{PodSelector: &own}}
	want := networkingv1.NetworkPolicySpec{
		PodSelector: own,
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: each}, rules.Ingress[0]},
		Egress:      []networkingv1.NetworkPolicyEgressRule{{To: each}, rules.Egress[0]},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("the policy (-want +got):\n%s", diff)
	}
	if got.Name != "quick-0a1b2c3d" || got.Namespace != "team" || !metav1.IsControlledBy(got, run) || got.Labels[v1alpha1.LabelRunUID] != string(run.UID) {
		t.Errorf("it is %s/%s of %v with the labels %v", got.Namespace, got.Name, got.OwnerReferences, got.Labels)
	}
	other := run.DeepCopy()
	other.UID = "ffffffff-0000"
	if render.PolicyName(other) == got.Name {
		t.Error("a later run of the same name has the same policy")
	}
}
