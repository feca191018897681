package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

// clearNodes deletes the pods and trials of a run. It returns how many to wait for, and the names of pods not worth a wait: their node is
// unavailable, or they should be gone by now. It reads from the API server. One failed deletion does not stop the others.
func clearNodes(ctx context.Context, c client.Client, live client.Reader, run *v1alpha1.BenchmarkRun, now time.Time) (left int, stuck []string, err error) {
	var pods corev1.PodList
	var trials v1alpha1.TrialList
	here, mine := client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}
	for _, list := range []client.ObjectList{&pods, &trials} {
		if err := reconciler.Insist(func() error { return live.List(ctx, list, here, mine) }); err != nil {
			return 0, nil, fmt.Errorf("listing remaining objects: %w", err)
		}
	}
	var refused []error
	remove := func(what string, o client.Object, how ...client.DeleteAllOfOption) {
		if err := reconciler.Insist(func() error { return c.DeleteAllOf(ctx, o, append(how, here, mine)...) }); err != nil {
			refused = append(refused, fmt.Errorf("deleting %s: %w", what, err))
		}
	}
	// The load stops with its pods: they go first, each with its own grace period.
	if slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp.IsZero() }) {
		remove("pods", &corev1.Pod{})
	}
	if slices.ContainsFunc(trials.Items, func(t v1alpha1.Trial) bool { return t.DeletionTimestamp.IsZero() }) {
		remove("trials", &v1alpha1.Trial{}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	nodes, err := readNodes(ctx, c)
	if err != nil {
		return 0, nil, errors.Join(append(refused, err)...)
	}
	left = len(trials.Items)
	for i := range pods.Items {
		p := &pods.Items[i]
		if facts.Goes(p, nodes, now) {
			left++
		} else if name, _ := facts.TrialOf(p); name != "" {
			stuck = append(stuck, p.Name)
		}
	}
	return left, stuck, errors.Join(refused...)
}

// letGo removes the finalizer, unless the run changed meanwhile.
func letGo(ctx context.Context, c client.Client, run *v1alpha1.BenchmarkRun) error {
	before := run.DeepCopy()
	controllerutil.RemoveFinalizer(run, v1alpha1.Finalizer)
	let := func() error {
		return c.Patch(ctx, run, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	}
	if err := reconciler.Insist(let); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing finalizer: %w", err)
	}
	return nil
}
