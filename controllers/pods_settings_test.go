package controllers

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// restrict lets a namespace admit only pods that meet Pod Security restricted.
func (w *world) restrict() {
	w.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`))
	w.must(w.c.Patch(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}, patch))
}

func TestMeasuredPodsHaveSettingsOfRunAndInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.pods = v1alpha1.PodSettings{Labels: map[string]string{"example.com/cost-center": "42"}}
	})
	w.restrict()
	for _, o := range []client.Object{
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "batch-" + w.namespace}, Value: 7},
		&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "kata-" + w.namespace}, Handler: "kata"},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bench"}},
	} {
		w.must(w.c.Create(t.Context(), o))
	}
	run := w.apply("dressed", ample, func(s *v1alpha1.BenchmarkRunSpec) {
		s.Placement.Pods = v1alpha1.PodSettings{
			Annotations: map[string]string{"example.com/contact": "Team A"}, Tolerations: []corev1.Toleration{{Key: "bench", Operator: corev1.TolerationOpExists}},
			PriorityClassName: "batch-" + w.namespace, RuntimeClassName: "kata-" + w.namespace, ServiceAccountName: "bench",
			SecurityContext: v1alpha1.PodSecurity{IDs: v1alpha1.ChooserPlatform, SELinuxOptions: v1alpha1.SELinuxOptions{Type: "container_t"}},
		}
	})
	w.awaitFirst("dressed")
	var pods corev1.PodList
	w.must(w.c.List(t.Context(), &pods, client.InNamespace(w.namespace), client.HasLabels{v1alpha1.LabelTrial}))
	if len(pods.Items) != 2 {
		t.Fatalf("there are %d pods", len(pods.Items))
	}
	for _, p := range pods.Items {
		s := p.Spec
		if p.Labels["example.com/cost-center"] != "42" || p.Annotations["example.com/contact"] != "Team A" || p.Labels[v1alpha1.LabelRun] != run.Name {
			t.Errorf("pod %s has the labels %v and the annotations %v", p.Name, p.Labels, p.Annotations)
		}
		if *s.Priority != 7 || s.RuntimeClassName == nil || s.ServiceAccountName != "bench" || *s.AutomountServiceAccountToken || s.SecurityContext.RunAsUser != nil {
			t.Errorf("pod %s is %+v", p.Name, s)
		}
	}
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
}

func TestRunWithoutSelectedNodeSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("nowhere", func(s *v1alpha1.BenchmarkRunSpec) {
		s.Placement.Pods.NodeSelector = map[string]string{"node.example/pool": "none"}
	})
	await(w, run, "a word about the selector", saysOf(v1alpha1.ConditionPlanned, v1alpha1.ReasonNotEnoughCPUs,
		"nodeSelector of spec.placement.pods or of the chart value runs.pods excludes"))
}

// inject adds a container to pods of the test's namespace, as the webhook of a service mesh does, unless they decline.
func (w *world) inject(declines func(*corev1.Pod) bool) {
	w.t.Helper()
	const patch = `[{"op": "add", "path": "/spec/containers/0", "value": {"name": "istio-proxy", "image": "proxy:1", "securityContext":
		{"allowPrivilegeEscalation": false, "runAsNonRoot": true, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}}}]`
	server := httptest.NewTLSServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var pod corev1.Pod
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || json.Unmarshal(review.Request.Object.Raw, &pod) != nil {
			http.Error(answer, "no review of a pod", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if !declines(&pod) {
			kind := admissionv1.PatchTypeJSONPatch
			review.Response.Patch, review.Response.PatchType = []byte(patch), &kind
		}
		_ = json.NewEncoder(answer).Encode(review) // The API server reports an answer that it cannot read.
	}))
	w.t.Cleanup(server.Close)
	fail, none := registrationv1.Fail, registrationv1.SideEffectClassNone
	hook := &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "mesh-" + w.namespace},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name: "mesh.example.com", AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail, SideEffects: &none,
			ClientConfig: registrationv1.WebhookClientConfig{
				URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
			Rules: []registrationv1.RuleWithOperations{{
				Operations: []registrationv1.OperationType{registrationv1.Create}, Rule: registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
	w.must(w.c.Create(w.t.Context(), hook))
	w.t.Cleanup(func() { w.must(w.c.Delete(context.Background(), hook)) })
	w.within("a webhook that injects", func() bool {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "any"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}
		w.must(w.c.Create(w.t.Context(), p, client.DryRunAll))
		return len(p.Spec.Containers) == 2
	})
}

func TestMeshThatHonorsOptOutInjectsNothing(t *testing.T) {
	t.Parallel()
	for name, declines := range map[string]func(*corev1.Pod) bool{
		"Istio by its label":      func(p *corev1.Pod) bool { return p.Labels["sidecar.istio.io/inject"] == "false" },
		"Istio by its annotation": func(p *corev1.Pod) bool { return p.Annotations["sidecar.istio.io/inject"] == "false" },
		"Linkerd":                 func(p *corev1.Pod) bool { return p.Annotations["linkerd.io/inject"] == "disabled" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inject(declines)
			run := w.awaitEnd(w.apply("meshed"))
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
		})
	}
}

func TestRunWithInjectedContainerSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inject(func(*corev1.Pod) bool { return false })
	run := w.awaitEnd(w.apply("meshed"))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "has a foreign container, istio-proxy: a webhook added it")
	trial := w.trials(run)[0]
	condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonPodRejected, "exclude the pods by labels or annotations (spec.placement.pods)")
	if strings.Contains(strings.Join(trial.Status.Failures, " "), "not running within") {
		t.Errorf("it waited in vain: %v", trial.Status.Failures)
	}
}
