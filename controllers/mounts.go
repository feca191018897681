package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reason is that of the events with which a kubelet says that it cannot mount a volume. It says so nowhere else: the pod only waits.
const mountReason = "FailedMount"

// Failed returns what kubelets say of pods, by the pods' names. It wants a reader of the API server itself: a cache would hold every event of the
// cluster.
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
