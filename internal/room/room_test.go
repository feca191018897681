package room

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestAPodsOwnerIsTheTrialOfItsUIDAndNoOtherOfItsName(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	yes := true
	pod := func(name, owner string, uid types.UID) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: name, Labels: map[string]string{v1alpha1.LabelTrial: owner},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: owner, UID: uid, Controller: &yes}},
		}}
	}
	pods := []corev1.Pod{pod("a", "there", "1"), pod("b", "there", "of-one-before"), pod("c", "gone", "2"), {ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "nobodys"}}}
	trial := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "there", UID: "1"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(trial, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, &pods[0], &pods[3]).Build()
	owners, err := Owners(t.Context(), c, pods)
	if err != nil || len(owners) != 1 || owners["1"].Name != "there" {
		t.Errorf("got %v, %v", owners, err)
	}
	if measured, err := Measured(t.Context(), c); err != nil || len(measured) != 1 || measured[0].Name != "a" {
		t.Errorf("measured are %v, %v", measured, err)
	}
	if nodes, err := Nodes(t.Context(), c); err != nil || len(nodes) != 1 || nodes[0].Name != "n" {
		t.Errorf("nodes are %v, %v", nodes, err)
	}
}
