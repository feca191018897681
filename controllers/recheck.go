package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// Moment is how long it may take until the API server knows of a container that has ended: a kubelet looks once a second.
const Moment = 3 * time.Second

// Failure is that of an attempt of whose check a permanent one has come: a server that was killed or deleted meanwhile answers as one that is not as it
// should be. What has become of the pods by now, a moment later, goes first. It wants a reader of the API server itself.
func recheck(ctx context.Context, live client.Reader, a pods.Attempt, f *conduct.Failure) (*conduct.Failure, error) {
	if f.Kind != conduct.Permanent {
		return f, nil
	}
	select {
	case <-time.After(Moment):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	of := a.Pods[0]
	var there corev1.PodList
	if err := live.List(ctx, &there, client.InNamespace(of.Namespace), client.MatchingLabels{v1alpha1.LabelTrial: of.Labels[v1alpha1.LabelTrial]}); err != nil {
		return nil, fmt.Errorf("looking at the pods of trial %s again: %w", of.Labels[v1alpha1.LabelTrial], err)
	}
	var now []*corev1.Pod
	for _, p := range a.Pods {
		i := slices.IndexFunc(there.Items, func(other corev1.Pod) bool { return other.Name == p.Name && other.UID == p.UID })
		if i < 0 {
			return conduct.TransientFailure(v1alpha1.ReasonPodLost, "pod %s was deleted by another client", p.Name), nil
		}
		now = append(now, &there.Items[i])
	}
	a.Pods = now
	return cmp.Or(a.Fault(), f), nil
}
