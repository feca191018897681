package argo

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
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

// An idle agent pod is replaced after a minute. A quota that prevents one is reported as such, not as an Argo outage.
func TestAnArgoThatIsSilentIsNotAlwaysAway(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	agent := func(ran time.Duration) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: "agent", Namespace: "own", CreationTimestamp: metav1.Time{Time: noon.Add(-ran)}, Labels: map[string]string{"workflows.argoproj.io/workflow": "w"},
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
	}
	quota := apierrors.NewForbidden(corev1.Resource("pods"), "w-agent", errors.New("exceeded quota: full"))
	for name, tc := range map[string]struct {
		agents  []client.Object
		refused error
		why     string
		left    int
	}{
		"its agent pod runs for a minute":         {[]client.Object{agent(Patience)}, nil, v1alpha1.ReasonWorkflowEngineDown, 1},
		"its agent pod runs for longer":           {[]client.Object{agent(Patience + time.Second)}, nil, v1alpha1.ReasonWorkflowEngineDown, 0},
		"there is no agent pod":                   {nil, nil, v1alpha1.ReasonWorkflowEngineDown, 0},
		"a quota has no room for an agent pod":    {nil, quota, v1alpha1.ReasonTrialWaiting, 0},
		"a policy takes no image of the question": {nil, apierrors.NewForbidden(corev1.Resource("pods"), "w-agent", errors.New("denied the request: no tag")), v1alpha1.ReasonWorkflowEngineDown, 0},
	} {
		c := fake.NewClientBuilder().WithObjects(tc.agents...).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
				return tc.refused
			},
		}).Build()
		w := New()
		w.SetName("w")
		w.SetCreationTimestamp(metav1.Time{Time: noon.Add(-time.Hour)})
		if err := unstructured.SetNestedField(w.Object, "Running", "status", "phase"); err != nil {
			t.Fatal(err)
		}
		s, err := Engine{Client: c, Live: c, Namespace: "own"}.Follow(t.Context(), w, facts.Owed{Trial: "t"}, time.Time{}, noon)
		var left corev1.PodList
		if err := errors.Join(err, c.List(t.Context(), &left)); err != nil {
			t.Fatal(err)
		}
		if s.Why != tc.why || len(left.Items) != tc.left || tc.why == v1alpha1.ReasonTrialWaiting && !strings.Contains(s.Waiting, "exceeded quota: full") {
			t.Errorf("%s: %+v, %d agent pods are left", name, s, len(left.Items))
		}
	}
}

func TestWorkflowThatExistsGetsNoSecondToken(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "run-uid-1234"}}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	tokens := 0
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	c := fake.NewClientBuilder().WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: render.TokensSecret}}).
		WithIndex(New(), metav1.ObjectNameField, byName).
		WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			tokens++
			return c.Patch(ctx, o, p, opts...)
		}}).Build()
	e := Engine{Client: c, Live: c, Key: key, Namespace: "system"}
	first, err := e.Make(t.Context(), run, plan.Plan{}, plan.Part{})
	if err != nil || tokens != 1 {
		t.Fatalf("the first time: %d tokens, %v", tokens, err)
	}
	again, err := e.Make(t.Context(), run, plan.Plan{}, plan.Part{})
	if err != nil || tokens != 1 || again.GetName() != first.GetName() {
		t.Errorf("the second time: %d tokens, %v", tokens, err)
	}
}
