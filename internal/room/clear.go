package room

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/facts"
	"loadstone.dev/loadstone/internal/pass"
)

// Clear removes the pods and the trials of a run, and returns how many were there; pods on a node that is away go when it is back, or with it. A
// refusal of one does not keep the others, and what is going already is not removed again. What is there is asked of the API server itself.
func Clear(ctx context.Context, c client.Client, live client.Reader, run *v1alpha1.BenchmarkRun) (left int, err error) {
	var pods corev1.PodList
	var trials v1alpha1.TrialList
	here, mine := client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}
	for _, list := range []client.ObjectList{&pods, &trials} {
		if err := pass.Insist(func() error { return live.List(ctx, list, here, mine) }); err != nil {
			return 0, fmt.Errorf("looking for what is left: %w", err)
		}
	}
	var refused []error
	remove := func(what string, o client.Object, how ...client.DeleteAllOfOption) {
		if err := pass.Insist(func() error { return c.DeleteAllOf(ctx, o, append(how, here, mine)...) }); err != nil {
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
	nodes, err := Nodes(ctx, c)
	if err != nil {
		return 0, errors.Join(append(refused, err)...)
	}
	away := func(p corev1.Pod) bool { return facts.Unreachable(&p, nodes) }
	return len(slices.DeleteFunc(pods.Items, away)) + len(trials.Items), errors.Join(refused...)
}
