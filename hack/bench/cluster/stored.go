package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

const (
	// storedNamespace is where the runs lie that have ended.
	storedNamespace = "loadstone-bench-stored"
	// storing is how many of them are made at the same time.
	storing = 16
	// An operator is quiet that has used less than quietCPU within quietFor.
	quietFor, quietCPU = 3 * time.Second, 60 * time.Millisecond
	// storedPatience bounds each wait for the operator to end, to start, and to become quiet.
	storedPatience = 3 * time.Minute
	// storedTakes is about how long it takes to make what is left of a run, and to remove it.
	storedTakes = 40 * time.Millisecond
)

// Stored measures what runs cost an operator that have ended long ago: its memory, what it uses until it is quiet after it was started anew, and how
// much later a run's first request comes. The runs are objects alone, as an operator leaves them that has measured one after the other until now: their
// trials and workflows are there until they are collected (facts.TTL).
func (b *Bench) Stored(ctx context.Context) (list []figures.Figure, err error) {
	without, err := b.starts(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.scale(ctx, 0); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.unstore(ctx)) }()
	if err := b.storeRuns(ctx); err != nil {
		return nil, err
	}
	if err := b.scale(ctx, 1); err != nil {
		return nil, err
	}
	pod, err := b.operator(ctx)
	if err != nil {
		return nil, err
	}
	used, err := b.awaitQuiet(ctx, pod)
	if err != nil {
		return nil, err
	}
	with, err := b.starts(ctx)
	if err != nil {
		return nil, err
	}
	resident, err := residentBytes("/proc", pod)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%d runs of %d trials have ended, the last %d within the time for which their trials are kept", b.sizes.stored, len(b.trialsOf(b.storedRun(0))), b.kept())
	added := figures.Median(with) - figures.Median(without)
	return []figures.Figure{
		figures.Of("operator-memory-with-stored-runs", float64(resident)/megabyte, "MB", figures.AtMost(100), "VmRSS after another "+fmt.Sprint(b.sizes.starts)+" runs; "+note),
		figures.Of("operator-cpu-until-quiet", used.Seconds(), "s", figures.AtMost(5), "from its start; "+note),
		figures.Of(
			"time-to-first-request-added", added.Seconds(), "s", figures.AtMost(0.2),
			fmt.Sprintf("difference of medians, n=%d: with %s, without %s; %s", len(with), figures.Spread(with), figures.Spread(without), note),
		),
	}, nil
}

func (b *Bench) storedRun(i int) *v1alpha1.BenchmarkRun {
	run := benchmarkRun(fmt.Sprintf("stored-%04d", i), 2, 10, 10, []int32{10, 50, 100, 500}, "gohttp", "epoll")
	run.Namespace = storedNamespace
	return run
}

// endedAgo is how long ago the i-th of them has ended.
func (b *Bench) endedAgo(i int) time.Duration {
	return time.Duration(b.sizes.stored-1-i) * reckoned(b.storedRun(i))
}

// kept is how many of them have trials and a workflow.
func (b *Bench) kept() int {
	n := 0
	for i := range b.sizes.stored {
		if b.endedAgo(i) < facts.TTL(b.storedRun(i)) {
			n++
		}
	}
	return n
}

// trialsOf are the trials of a run as its operator makes them.
func (b *Bench) trialsOf(run *v1alpha1.BenchmarkRun) []*v1alpha1.Trial {
	p, err := plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
	if err != nil {
		return nil // The API server refuses the run, too.
	}
	trials := make([]*v1alpha1.Trial, len(p.Trials))
	for i, line := range p.Trials {
		trials[i] = render.Trial(run, line)
	}
	return trials
}

// scale lets so many operators run, and returns when that is so.
func (b *Bench) scale(ctx context.Context, replicas int32) error {
	ctx, cancel := context.WithTimeout(ctx, storedPatience)
	defer cancel()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone"}}
	if err := b.cluster.Patch(ctx, d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))); err != nil {
		return fmt.Errorf("scaling the operator to %d: %w", replicas, err)
	}
	for {
		var pods corev1.PodList
		if err := b.cluster.List(ctx, &pods, client.InNamespace(system), operatorLabels); err != nil {
			return fmt.Errorf("listing the operator's pods: %w", err)
		}
		running := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
		if len(pods.Items) == int(replicas) && running == (replicas > 0) {
			return nil
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d operators: %w", replicas, ctx.Err())
		}
	}
}

// storeRuns makes the runs that have ended, while no operator sees them.
func (b *Bench) storeRuns(ctx context.Context) error {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: storedNamespace}}
	if err := b.cluster.Create(ctx, space); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", storedNamespace, err)
	}
	next := make(chan int)
	failed := make([]error, storing)
	var all sync.WaitGroup
	for worker := range storing {
		all.Go(func() {
			for i := range next {
				failed[worker] = errors.Join(failed[worker], b.storeRun(ctx, b.storedRun(i), b.endedAgo(i)))
			}
		})
	}
	for i := range b.sizes.stored {
		if i%100 == 0 {
			b.log.Step("%d of %d runs are there", i, b.sizes.stored)
		}
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(failed...)
}

// storeRun makes a run that has ended so long ago, with all that is left of it.
func (b *Bench) storeRun(ctx context.Context, run *v1alpha1.BenchmarkRun, ago time.Duration) error {
	ended := metav1.NewTime(time.Now().Add(-ago))
	kept := ago < facts.TTL(run)
	if kept {
		run.Finalizers = []string{v1alpha1.Finalizer}
	}
	if err := b.cluster.Create(ctx, run); err != nil {
		return fmt.Errorf("creating run %s: %w", run.Name, err)
	}
	run.Status.StartTime, run.Status.CompletionTime = &ended, &ended
	run.Status.Conditions = doneConditions(ended, v1alpha1.ConditionPlanned, v1alpha1.ConditionExecuted, v1alpha1.ConditionReported, v1alpha1.ConditionSucceeded)
	if err := b.cluster.Status().Update(ctx, run); err != nil {
		return fmt.Errorf("ending run %s: %w", run.Name, err)
	}
	if !kept {
		return nil
	}
	for _, t := range b.trialsOf(run) {
		if err := b.storeTrial(ctx, t, ended); err != nil {
			return err
		}
	}
	return b.storeWorkflow(ctx, run)
}

// storeTrial makes a trial that has ended.
func (b *Bench) storeTrial(ctx context.Context, t *v1alpha1.Trial, ended metav1.Time) error {
	if err := b.cluster.Create(ctx, t); err != nil {
		return fmt.Errorf("creating trial %s: %w", t.Name, err)
	}
	micro := metav1.NewMicroTime(ended.Time)
	t.Status = v1alpha1.TrialStatus{
		Attempt: 1, AttemptTime: &ended, StartTime: &micro, CompletionTime: &micro, Progress: "4/4", ManifestKey: "runs/" + t.Name + "/manifest.json",
		Nodes:      []v1alpha1.MemberNode{{Member: "server-0", Node: "server"}, {Member: "generator-0", Node: "loadgen"}},
		Conditions: doneConditions(ended, v1alpha1.ConditionPrepared, v1alpha1.ConditionMeasured, v1alpha1.ConditionStored, v1alpha1.ConditionSucceeded),
	}
	if err := b.cluster.Status().Update(ctx, t); err != nil {
		return fmt.Errorf("ending trial %s: %w", t.Name, err)
	}
	return nil
}

// storeWorkflow makes the workflow of a run, which has succeeded.
func (b *Bench) storeWorkflow(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	p, err := plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
	if err != nil {
		return fmt.Errorf("compiling run %s: %w", run.Name, err)
	}
	w := render.Workflow(p, render.WorkflowOptions{Namespace: system, RunNamespace: run.Namespace, RunName: run.Name, RunUID: string(run.UID)})
	labels := w.GetLabels()
	labels["workflows.argoproj.io/completed"], labels[storedLabel] = "true", "true"
	w.SetLabels(labels)
	if err := unstructured.SetNestedField(w.Object, "Succeeded", "status", "phase"); err != nil {
		return fmt.Errorf("ending workflow %s: %w", w.GetName(), err)
	}
	if err := b.cluster.Create(ctx, w); err != nil {
		return fmt.Errorf("creating workflow %s: %w", w.GetName(), err)
	}
	return nil
}

// storedLabel marks the workflows of stored runs.
const storedLabel = "loadstone.dev/bench-stored"

func doneConditions(at metav1.Time, kinds ...string) []metav1.Condition {
	var list []metav1.Condition
	for _, kind := range kinds {
		list = append(list, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, LastTransitionTime: at})
	}
	return list
}

// awaitQuiet waits until an operator uses next to nothing any more, and returns what it has used until then.
func (b *Bench) awaitQuiet(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	until := time.Now().Add(storedPatience)
	before, err := usedCPU("/proc", pod)
	for err == nil && time.Now().Before(until) {
		select {
		case <-time.After(quietFor):
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for the operator to be quiet: %w", ctx.Err())
		}
		var used time.Duration
		if used, err = usedCPU("/proc", pod); err == nil && used-before < quietCPU {
			return before, nil
		}
		b.log.Step("the operator has used %.2f s", used.Seconds())
		before = used
	}
	return 0, errors.Join(err, fmt.Errorf("the operator is not quiet after %s, and has used %s", storedPatience, before))
}

// removeAll deletes objects until none is left: a request of so many may take longer than the API server lets it.
func (b *Bench) removeAll(ctx context.Context, of client.Object, which ...client.DeleteAllOfOption) error {
	for {
		err := b.cluster.DeleteAllOf(ctx, of, which...)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("removing what was stored: %w", err)
		}
	}
}

// letGo takes the finalizers of the stored runs, for which there is no operator now.
func (b *Bench) letGo(ctx context.Context) error {
	var runs v1alpha1.BenchmarkRunList
	if err := b.cluster.List(ctx, &runs, client.InNamespace(storedNamespace)); err != nil {
		return fmt.Errorf("listing stored runs: %w", err)
	}
	none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for i := range runs.Items {
		if err := b.cluster.Patch(ctx, &runs.Items[i], none); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("taking the finalizer of %s: %w", runs.Items[i].Name, err)
		}
	}
	return nil
}

// unstore removes what was stored while there is no operator, and starts one again. It works also after ctx has ended.
func (b *Bench) unstore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*storedPatience)
	defer cancel()
	workflow := &unstructured.Unstructured{}
	workflow.SetGroupVersionKind(render.WorkflowKind)
	err := errors.Join(b.scale(ctx, 0), b.letGo(ctx))
	for _, what := range []struct {
		of    client.Object
		which []client.DeleteAllOfOption
	}{
		{&v1alpha1.Trial{}, []client.DeleteAllOfOption{client.InNamespace(storedNamespace)}},
		{&v1alpha1.BenchmarkRun{}, []client.DeleteAllOfOption{client.InNamespace(storedNamespace)}},
		{workflow, []client.DeleteAllOfOption{client.InNamespace(system), client.MatchingLabels{storedLabel: "true"}}},
	} {
		err = errors.Join(err, b.removeAll(ctx, what.of, what.which...))
	}
	if e := b.cluster.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: storedNamespace}}); client.IgnoreNotFound(e) != nil {
		err = errors.Join(err, fmt.Errorf("removing namespace %s: %w", storedNamespace, e))
	}
	return errors.Join(err, b.scale(ctx, 1))
}
