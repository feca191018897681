package controllers

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

func TestRunWaitsForCordonedNode(t *testing.T) {
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

func TestTrialWaitsForQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stop"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	w.must(w.c.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	w.must(w.c.Status().Update(t.Context(), quota))
	run := w.apply("limited", ample)
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
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if failures := strings.Join(w.trials(run)[0].Status.Failures, "\n"); strings.Contains(failures, "quota") || strings.Contains(failures, v1alpha1.ReasonPodLost) {
		t.Errorf("it did not wait: %s", failures)
	}
}

func TestTrialWaitsForLimitRange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limit := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "small"}, Spec: corev1.LimitRangeSpec{
		Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}}},
	}}
	w.must(w.c.Create(t.Context(), limit))
	w.within("a limit that is in force", func() bool {
		small := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "any"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "x", Image: "x", Resources: corev1.ResourceRequirements{Limits: small},
		}}}}
		return apierrors.IsForbidden(w.c.Create(t.Context(), p, client.DryRunAll))
	})
	run := w.apply("small")
	await(w, run, "a word about its trial", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonTrialWaiting, "is denied admission, for up to 10m0s (spec.patienceSeconds): pods"))
	w.must(w.c.Delete(t.Context(), limit))
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if failures := w.trials(run)[0].Status.Failures; strings.Contains(strings.Join(failures, "\n"), v1alpha1.ReasonPodRejected) {
		t.Errorf("it did not wait: %s", failures)
	}
}

// A policy denies all pods of the namespace for a while.
func TestTrialWaitsForDenyingPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const says = "no pods during maintenance"
	all, fail := admissionv1.OperationAll, admissionv1.Fail
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "maintenance-" + w.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{all}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "request.operation != 'CREATE'", Message: says}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	w.must(w.c.Create(t.Context(), policy))
	defer func() { w.must(client.IgnoreNotFound(w.c.Delete(t.Context(), policy))) }()
	w.must(w.c.Create(t.Context(), binding))
	defer func() { w.must(client.IgnoreNotFound(w.c.Delete(t.Context(), binding))) }()
	w.within("a policy that is in force", func() bool {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "any"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}
		err := w.c.Create(t.Context(), p, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), says)
	})
	run := w.apply("denied")
	await(w, w.trial("denied-000-go"), "a word about the policy", func(trial *v1alpha1.Trial) bool {
		c := meta.FindStatusCondition(trial.Status.Conditions, v1alpha1.ConditionPrepared)
		return c != nil && c.Status == metav1.ConditionUnknown && strings.Contains(c.Message, says)
	})
	w.must(w.c.Delete(t.Context(), binding))
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if failures := strings.Join(w.trials(run)[0].Status.Failures, "\n"); strings.Contains(failures, says) {
		t.Errorf("it did not wait: %s", failures)
	}
}

// Waiting does not help a run whose namespace is being deleted. It reports its measurements, since the deletion may take long.
func TestRunEndsWhenNamespaceIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("homeless", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), ample)
	first := w.awaitFirst("homeless")
	w.must(w.c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	run = w.awaitHastened(run)
	const says = "is being deleted: create the run in another"
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "namespace "+w.namespace+" "+says)
	condition(t, run.Status.Conditions, v1alpha1.ConditionReported, metav1.ConditionTrue, v1alpha1.ReasonDone)
	for _, trial := range w.trials(run) {
		if trial.Name == first.Name {
			condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			continue
		}
		condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonPodRejected, says)
	}
}

// Everything on a node ends at once, the server and who observes it, which is no failure of the server's.
func TestNodeRestartRepeatsBlock(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{"its containers are killed": "Error", "its kubelet knows nothing of them any more": "ContainerStatusUnknown"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run := w.apply("rebooted", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), ample)
			first := w.awaitFirst("rebooted")
			w.must(w.kubelet.restart(t.Context(), "node-"+v1alpha1.RoleServer, why))
			run = w.awaitHastened(run)
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			stored := 0
			for _, trial := range w.trials(run) {
				if trial.Name == first.Name {
					condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonPodLost, "memory was not the cause")
					continue
				}
				condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
				stored++
			}
			if stored != 3 {
				t.Errorf("%d trials are stored, want the other of the block and those of a repeat block", stored)
			}
		})
	}
}

func TestForeignPodWithLabelDoesNotBlockQueue(t *testing.T) {
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
