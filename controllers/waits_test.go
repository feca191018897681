package controllers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// cordon lets a node take no pods, or lets it take them again.
func (w *world) cordon(name string, cordoned bool) {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.must(w.c.Get(w.t.Context(), client.ObjectKeyFromObject(node), node))
	node.Spec.Unschedulable = cordoned
	w.must(w.c.Update(w.t.Context(), node))
}

// saysOf reports whether a condition of a run is Unknown for a reason, and its message holds some words.
func saysOf(kind, reason, words string) func(*v1alpha1.BenchmarkRun) bool {
	return func(r *v1alpha1.BenchmarkRun) bool {
		c := meta.FindStatusCondition(r.Status.Conditions, kind)
		return c != nil && c.Status == metav1.ConditionUnknown && c.Reason == reason && strings.Contains(c.Message, words)
	}
}

func TestARunWaitsForANodeThatIsCordoned(t *testing.T) {
	w := newWorld(t)
	const node = "node-" + v1alpha1.RoleServer
	w.cordon(node, true)
	defer w.cordon(node, false)
	run := w.apply("later")
	await(w, run, "a word about the node", saysOf(v1alpha1.ConditionPlanned, v1alpha1.ReasonNotEnoughCPUs, "waiting for nodes that are cordoned or not ready: "+node))
	if run.Status.StartTime != nil || run.Status.CompletionTime != nil {
		t.Errorf("a run that waits has the status %+v", run.Status)
	}
	w.cordon(node, false)
	w.poke(run)
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
}

func TestATrialWaitsForAQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stop"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	w.must(w.c.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	w.must(w.c.Status().Update(t.Context(), quota))
	run := w.apply("limited")
	await(w, w.trial("limited-000-go"), "a word about the quota", func(trial *v1alpha1.Trial) bool {
		c := meta.FindStatusCondition(trial.Status.Conditions, v1alpha1.ConditionPrepared)
		return c != nil && c.Status == metav1.ConditionUnknown && strings.Contains(c.Message, "exceeded quota: stop")
	})
	await(w, run, "a word about its trial", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonTrialWaiting, "trial limited-000-go: the API server refuses pod"))
	if run.Status.WaitingSince == nil {
		t.Error("the run does not say since when it waits")
	}
	behind := w.apply("behind")
	await(w, behind, "a word about the one before", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonQueued, "/limited is measuring, and waits: trial limited-000-go"))
	w.must(w.c.Delete(t.Context(), quota))
	await(w, behind, "another word about the one before", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonQueued, "/limited is measuring: runs take turns"))
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if failures := strings.Join(w.trials(run)[0].Status.Failures, "\n"); strings.Contains(failures, "quota") || strings.Contains(failures, v1alpha1.ReasonPodLost) {
		t.Errorf("it did not wait: %s", failures)
	}
}

func TestAPodThatOnlyHasALabelOfOursHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.system, Name: "stranger", Labels: map[string]string{v1alpha1.LabelTrial: "x"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}},
	}
	w.must(w.c.Create(t.Context(), stranger))
	defer func() { w.must(w.c.Delete(t.Context(), stranger, client.GracePeriodSeconds(0))) }()
	run := w.awaitEnd(w.apply("free"))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
}
