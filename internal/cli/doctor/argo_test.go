package doctor

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestUserManagedArgoController(t *testing.T) {
	for name, tc := range map[string]struct {
		// asked is the operator's instanceID, and config what the controller's ConfigMap holds.
		asked  string
		config map[string]string
		change func(pod *corev1.Pod)
		taker  string
		away   string
	}{
		"one without an instanceID, for one that asks for none":  {taker: "pod argo/controller"},
		"one with the operator's instanceID":                     {asked: "bench", config: map[string]string{"config": "instanceID: bench\nnodeEvents: {enabled: false}\n"}, taker: "pod argo/controller"},
		"one with the operator's instanceID in a key of its own": {asked: "bench", config: map[string]string{"instanceID": "bench"}, taker: "pod argo/controller"},
		"one with another instanceID": {
			asked: "loadstone", config: map[string]string{"instanceID": "bench"}, away: `pod argo/controller has instanceID "bench", but the operator uses "loadstone"`,
		},
		"one without, for an operator that asks for one": {asked: "loadstone", away: `has instanceID "", but the operator uses "loadstone"`},
		"one that is not ready":                          {change: func(pod *corev1.Pod) { pod.Status.Conditions = nil }, away: "pod argo/controller is not ready"},
		"one that is not ready, with another instanceID": {
			change: func(pod *corev1.Pod) { pod.Status.Conditions = nil }, config: map[string]string{"instanceID": "bench"}, away: `has instanceID "bench"`,
		},
		"one of its own namespace": {
			change: func(pod *corev1.Pod) { pod.Spec.Containers[0].Args = []string{"--namespaced"} }, away: "only runs workflows in namespace argo, but the operator creates them in system",
		},
		"one of its own namespace, with a proxy before it": {
			change: func(pod *corev1.Pod) {
				pod.Spec.Containers = []corev1.Container{{Name: "istio-proxy"}, {Name: "controller", Args: []string{"--namespaced"}}}
			}, away: "only runs workflows in namespace argo, but the operator creates them in system",
		},
		"one of the operator's namespace": {
			change: func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Args = []string{"--namespaced", "--managed-namespace", "system"}
			}, taker: "pod argo/controller",
		},
		"one that its community's chart has installed": {
			change: func(pod *corev1.Pod) {
				pod.Labels = map[string]string{"app.kubernetes.io/component": "workflow-controller"}
			}, taker: "pod argo/controller",
		},
		"one whose settings cannot be read": {change: func(pod *corev1.Pod) { pod.Spec.Containers[0].Args = []string{"--configmap=gone"} }},
		"none":                              {change: func(pod *corev1.Pod) { pod.Labels = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			operator := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
				Namespace: "system", Name: "loadstone", Labels: map[string]string{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"},
			}}
			operator.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--s3-endpoint=a:1", "--argo-instance-id=" + tc.asked}}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "argo", Name: "controller", Labels: map[string]string{"app": "workflow-controller"}}}
			pod.Spec.Containers = []corev1.Container{{Command: []string{"workflow-controller"}}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			if tc.change != nil {
				tc.change(pod)
			}
			settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "argo", Name: "workflow-controller-configmap"}, Data: tc.config}
			taker, away, unready := lookAtOwnArgo(t.Context(), fake.NewClientBuilder().WithObjects(operator, pod, settings).Build(), "system")
			if unready != (tc.away == "pod argo/controller is not ready") {
				t.Errorf("that it merely is not ready is %v of %q", unready, away)
			}
			if taker != tc.taker || !strings.Contains(away, tc.away) || tc.away == "" && away != "" {
				t.Errorf("%q takes workflows, and others do not: %q, want %q and %q", taker, away, tc.taker, tc.away)
			}
		})
	}
}

func TestTheChartsArgoIsFoundUnderAnyName(t *testing.T) {
	for name, tc := range map[string]struct {
		component string
		ready     int32
		away      string
		elsewhere bool
	}{
		"ready":     {component: "argo", ready: 1},
		"not ready": {component: "argo", away: "no pod of Deployment system/acme-argo is ready"},
		"none":      {component: "operator", ready: 1, elsewhere: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
				Namespace: "system", Name: "acme-argo", Labels: map[string]string{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": tc.component},
			}}
			d.Status.ReadyReplicas = tc.ready
			away, elsewhere := lookAtArgo(t.Context(), fake.NewClientBuilder().WithObjects(d).Build(), "system")
			if away != tc.away || elsewhere != tc.elsewhere {
				t.Errorf("got %q, %t, want %q, %t", away, elsewhere, tc.away, tc.elsewhere)
			}
		})
	}
}
