package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

const (
	// Ended runs are in storedNamespace. storedLabel marks their workflows.
	storedNamespace, storedLabel = "loadstone-bench-stored", "loadstone.dev/bench-stored"
	// An operator is idle if it used less than quietCPU within quietFor.
	quietFor, quietCPU = 3 * time.Second, 60 * time.Millisecond
	// betweenStored is the approximate duration of each stored run.
	betweenStored = 17 * time.Minute
)

// BenchmarkClusterStored measures the cost of ended runs: the operator's memory, its CPU time after a restart, and the
// delay of a new run's first request.
func BenchmarkClusterStored(b *testing.B) {
	m, runs := beginOnCluster(b), sized(1000, 10)
	m.unstore() // What an interrupted benchmark has left.
	without := m.starts()
	m.scale(0)
	b.Cleanup(m.unstore)
	m.must(m.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: storedNamespace}}))
	kept := 0
	for i := range runs {
		run := benchmarkRun(fmt.Sprintf("stored-%04d", i), 2, 10, 10, []int32{10, 50, 100, 500}, "gohttp", "epoll")
		run.Namespace = storedNamespace
		ago := time.Duration(runs-1-i) * betweenStored
		if m.storeRun(run, metav1.NewTime(time.Now().Add(-ago)), ago < facts.TTL(run)) {
			kept++
		}
	}
	m.scale(1)
	pod := m.operator()
	used := m.awaitQuiet(&pod)
	with := m.starts()
	note := fmt.Sprintf("%d runs of 20 trials have ended, the last %d within the time for which their trials are kept", runs, kept)
	m.report(
		figures.Of("operator-memory-with-stored-runs", float64(residentBytes("/proc", &pod))/1e6, "MB", figures.AtMost(100), fmt.Sprintf("VmRSS after another %d runs; %s", len(with), note)),
		figures.Of("operator-cpu-until-quiet", used.Seconds(), "s", figures.AtMost(5), "from its start; "+note),
		figures.Of("time-to-first-request-added", (figures.Median(with)-figures.Median(without)).Seconds(), "s", figures.AtMost(0.2),
			fmt.Sprintf("difference of medians, n=%d: with %s, without %s; %s", len(with), figures.Spread(with), figures.Spread(without), note)),
	)
}

func (m onCluster) scale(replicas int32) {
	m.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone"}}
	m.must(m.Patch(context.WithoutCancel(m.Context()), d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))))
	m.await(patience, fmt.Sprintf("%d operators", replicas), func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		err := m.List(ctx, &pods, client.InNamespace(system), operatorLabels)
		running := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
		return len(pods.Items) == int(replicas) && running == (replicas > 0), err
	})
}

// storeRun creates an ended run while no operator runs, with all its remaining objects if they are kept.
func (m onCluster) storeRun(run *v1alpha1.BenchmarkRun, ended metav1.Time, kept bool) bool {
	m.Helper()
	if kept {
		run.Finalizers = []string{v1alpha1.Finalizer}
	}
	m.must(m.Create(m.Context(), run))
	run.Status.StartTime, run.Status.CompletionTime = &ended, &ended
	run.Status.Conditions = doneConditions(ended, v1alpha1.ConditionPlanned, v1alpha1.ConditionExecuted, v1alpha1.ConditionReported, v1alpha1.ConditionSucceeded)
	m.must(m.Status().Update(m.Context(), run))
	if !kept {
		return false
	}
	p, err := plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
	m.must(err)
	for _, line := range p.Trials {
		t, micro := render.Trial(run, line), metav1.NewMicroTime(ended.Time)
		m.must(m.Create(m.Context(), t))
		t.Status = v1alpha1.TrialStatus{
			Attempt: 1, AttemptTime: &ended, StartTime: &micro, CompletionTime: &micro, Progress: "4/4", ManifestKey: "runs/" + t.Name + "/manifest.json",
			Nodes:      []v1alpha1.MemberNode{{Member: "server-0", Node: "server"}, {Member: "generator-0", Node: "loadgen"}},
			Conditions: doneConditions(ended, v1alpha1.ConditionPrepared, v1alpha1.ConditionStored, v1alpha1.ConditionSucceeded),
		}
		m.must(m.Status().Update(m.Context(), t))
	}
	w := render.Workflow(p, render.WorkflowOptions{Namespace: system, RunNamespace: run.Namespace, RunName: run.Name, RunUID: string(run.UID)})
	labels := w.GetLabels()
	labels["workflows.argoproj.io/completed"], labels[storedLabel] = "true", "true"
	w.SetLabels(labels)
	m.must(unstructured.SetNestedField(w.Object, "Succeeded", "status", "phase"))
	m.must(m.Create(m.Context(), w))
	return true
}

func doneConditions(at metav1.Time, kinds ...string) (list []metav1.Condition) {
	for _, kind := range kinds {
		list = append(list, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, LastTransitionTime: at})
	}
	return list
}

// awaitQuiet waits until the operator is idle and returns its CPU time.
func (m onCluster) awaitQuiet(pod *corev1.Pod) (used time.Duration) {
	m.Helper()
	usedCPU := func() (sum time.Duration) {
		for _, folder := range processes("/proc", pod) {
			sum += processTime(folder)
		}
		return sum
	}
	m.await(patience, "the operator to be quiet", func(context.Context) (bool, error) {
		used = usedCPU()
		time.Sleep(quietFor)
		return used > 0 && usedCPU()-used < quietCPU, nil
	})
	return used
}

// unstore removes stored runs and their finalizers while no operator runs, and then starts one.
func (m onCluster) unstore() {
	ctx := context.WithoutCancel(m.Context())
	m.scale(0)
	defer m.scale(1)
	var runs v1alpha1.BenchmarkRunList
	m.must(m.List(ctx, &runs, client.InNamespace(storedNamespace)))
	for i := range runs.Items {
		m.must(client.IgnoreNotFound(m.Patch(ctx, &runs.Items[i], client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
	}
	workflow := &unstructured.Unstructured{}
	workflow.SetGroupVersionKind(render.WorkflowKind)
	// Deleting many objects may exceed the API server's timeout, so it is retried.
	for range 10 {
		err := errors.Join(
			m.DeleteAllOf(ctx, &v1alpha1.Trial{}, client.InNamespace(storedNamespace)),
			m.DeleteAllOf(ctx, &v1alpha1.BenchmarkRun{}, client.InNamespace(storedNamespace)),
			m.DeleteAllOf(ctx, workflow, client.InNamespace(system), client.MatchingLabels{storedLabel: "true"}),
		)
		if err == nil {
			break
		}
		m.Logf("removing what was stored: %v", err)
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: storedNamespace}}
	m.must(client.IgnoreNotFound(m.Delete(ctx, space)))
	m.await(patience, "the end of the namespace "+storedNamespace, func(ctx context.Context) (bool, error) {
		err := m.Get(ctx, client.ObjectKeyFromObject(space), space)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
