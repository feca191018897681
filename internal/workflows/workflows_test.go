package workflows

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestHowFarAWorkflowIs(t *testing.T) {
	for name, tc := range map[string]struct {
		phase, shutdown string
		ended, stopped  bool
	}{
		"one that nobody has looked at": {},
		"one that goes on":              {phase: "Running"},
		"one that is done":              {phase: "Succeeded", ended: true},
		"one that has failed":           {phase: "Failed", ended: true},
		"one that Argo cannot run":      {phase: "Error", ended: true},
		"one that is being shut down":   {phase: "Running", shutdown: "Stop", stopped: true},
		"one that was shut down":        {phase: "Failed", shutdown: "Terminate", ended: true, stopped: true},
	} {
		w := New()
		for path, value := range map[string]string{"status": tc.phase, "spec": tc.shutdown} {
			field := map[string]string{"status": "phase", "spec": "shutdown"}[path]
			if err := unstructured.SetNestedField(w.Object, value, path, field); err != nil {
				t.Fatal(err)
			}
		}
		if phase, _ := Phase(w); phase != tc.phase || Ended(w) != tc.ended || Stopped(w) != tc.stopped {
			t.Errorf("%s: %q, ended: %v, stopped: %v", name, phase, Ended(w), Stopped(w))
		}
	}
}

func TestPodsThatArgoDoesNotMendAreReplaced(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-d)} }
	pod := func(name, workflow string, made time.Duration, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "own", CreationTimestamp: ago(made), Labels: map[string]string{"workflows.argoproj.io/workflow": workflow}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	pulled := pod("pulled", "w", Patience, corev1.PodRunning)
	pulled.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(AnswerPatience)}}}}
	for name, tc := range map[string]struct {
		patience time.Duration
		left     []string
	}{
		"those that have failed":                    {never, []string{"hung", "new", "old", "other", "pulled", "pulling"}},
		"those that should have collected a result": {AnswerPatience, []string{"new", "other", "pulled", "pulling"}},
	} {
		c := fake.NewClientBuilder().WithObjects(
			pod("old", "w", AnswerPatience+time.Second, corev1.PodRunning), pod("new", "w", AnswerPatience, corev1.PodRunning), pulled.DeepCopy(),
			pod("pulling", "w", Patience, corev1.PodPending), pod("hung", "w", Patience+time.Second, corev1.PodPending),
			pod("failed", "w", 0, corev1.PodFailed), pod("other", "x", Patience, corev1.PodFailed),
		).Build()
		e := Engine{Client: c, Live: c, Namespace: "own"}
		agents, err := e.AgentPods(t.Context(), "w")
		if err := errors.Join(err, e.ReplaceAgentPods(t.Context(), agents, tc.patience, noon)); err != nil {
			t.Fatal(err)
		}
		var pods corev1.PodList
		if err := c.List(t.Context(), &pods); err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, p := range pods.Items {
			left = append(left, p.Name)
		}
		if diff := cmp.Diff(tc.left, left); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
