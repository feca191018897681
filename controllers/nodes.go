package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

// ownersOf are the trials that control pods, by UID.
func ownersOf(ctx context.Context, c client.Reader, pods []corev1.Pod) (map[types.UID]*v1alpha1.Trial, error) {
	owners := map[types.UID]*v1alpha1.Trial{}
	for i := range pods {
		name, uid := facts.TrialOf(&pods[i])
		if name == "" || owners[uid] != nil {
			continue
		}
		var t v1alpha1.Trial
		if err := c.Get(ctx, client.ObjectKey{Namespace: pods[i].Namespace, Name: name}, &t); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading Trial %s: %w", name, err)
		}
		if t.UID == uid {
			owners[uid] = &t
		}
	}
	return owners, nil
}

// takenName reports whether a foreign pod has the name of a trial's pod. It needs a reader of the API server.
func takenName(ctx context.Context, live client.Reader, pod *corev1.Pod) (bool, error) {
	var there corev1.PodList
	if err := live.List(ctx, &there, client.InNamespace(pod.Namespace), client.MatchingFields{metav1.ObjectNameField: pod.Name}); err != nil {
		return false, fmt.Errorf("looking for pod %s: %w", pod.Name, err)
	}
	_, mine := facts.TrialOf(pod)
	return slices.ContainsFunc(there.Items, func(p corev1.Pod) bool {
		_, uid := facts.TrialOf(&p)
		return uid != mine
	}), nil
}

func measuredPods(ctx context.Context, c client.Reader) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.HasLabels{v1alpha1.LabelTrial}); err != nil {
		return nil, fmt.Errorf("listing measured pods: %w", err)
	}
	return pods.Items, nil
}

// tidyPause is how long a cache may take to show deleted pods.
const tidyPause = time.Second

// tidyPods deletes the pods of a finished trial in one request. It returns when to check again.
func tidyPods(ctx context.Context, c client.Client, t *v1alpha1.Trial, now time.Time) (again time.Duration, err error) {
	pods, err := measuredPods(ctx, c)
	if err != nil {
		return 0, err
	}
	stay := false
	for i := range pods {
		p := &pods[i]
		switch _, uid := facts.TrialOf(p); {
		case uid != t.UID:
		case p.DeletionTimestamp.IsZero():
			stay = true
		default:
			again = max(again, facts.ToldToGo(p).Add(tidyPause).Sub(now))
		}
	}
	if !stay || again > 0 {
		return again, nil
	}
	mine := client.MatchingLabels{v1alpha1.LabelRunUID: t.Labels[v1alpha1.LabelRunUID], v1alpha1.LabelTrial: t.Name}
	if err := c.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(t.Namespace), mine); err != nil {
		return 0, fmt.Errorf("deleting the pods of trial %s: %w", t.Name, err)
	}
	return 0, nil
}

func readNodes(ctx context.Context, c client.Reader) ([]plan.Node, error) {
	var list corev1.NodeList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	return facts.Nodes(list.Items), nil
}

func deletePods(ctx context.Context, c client.Writer, pods []*corev1.Pod) error {
	for _, p := range pods {
		if !p.DeletionTimestamp.IsZero() {
			continue
		}
		// The UID keeps us from deleting a successor of the same name; the grace period is the pod's own, never zero.
		if err := c.Delete(ctx, p, client.Preconditions{UID: &p.UID}); err != nil && !reconciler.Benign(err) {
			return fmt.Errorf("deleting pod %s: %w", p.Name, err)
		}
	}
	return nil
}

// The kubelet reports this only in events.
const mountReason = "FailedMount"

// failedMounts returns the mount errors of pods by pod name. It reads from the API server: a cache would hold all events of the cluster.
func failedMounts(ctx context.Context, live client.Reader, pods []*corev1.Pod) (map[string]string, error) {
	said := map[string]string{}
	for _, p := range pods {
		var events corev1.EventList
		of := client.MatchingFields{"involvedObject.uid": string(p.UID), "reason": mountReason}
		if err := live.List(ctx, &events, client.InNamespace(p.Namespace), of); err != nil {
			return nil, fmt.Errorf("reading the events of pod %s: %w", p.Name, err)
		}
		for _, e := range events.Items {
			said[p.Name] = e.Message
		}
	}
	return said, nil
}
