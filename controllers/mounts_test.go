package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/testbed"
)

func TestKubeletEventsOfPodAreFound(t *testing.T) {
	c, err := client.New(testbed.Cluster(t, ".."), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-of-" + name)}}
	}
	for _, e := range []struct{ name, pod, reason, message string }{
		{"a", "server", "Scheduled", "assigned"},
		{"b", "server", "FailedMount", `secret "keys" not found`},
		{"c", "other", "FailedMount", "timed out"},
		{"d", "generator", "Pulled", "pulled"},
	} {
		event := &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: e.name, Namespace: "default"}, Reason: e.reason, Message: e.message,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: e.pod, UID: pod(e.pod).UID},
		}
		if err := c.Create(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	got, err := failedMounts(t.Context(), c, []*corev1.Pod{pod("server"), pod("generator")})
	if diff := cmp.Diff(map[string]string{"server": `secret "keys" not found`}, got); diff != "" || err != nil {
		t.Errorf("it has read, %v, -want +got:\n%s", err, diff)
	}
}
