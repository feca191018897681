package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/progress"
)

// clusterOf is a cluster with some objects.
func clusterOf(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), v1alpha1.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	return &cluster{WithWatch: fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).Build()}
}

func podWith(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name, Labels: labels}}
}

func runOf(name string, ended *metav1.Time) *v1alpha1.BenchmarkRun {
	return &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name, UID: "uid"}, Status: v1alpha1.BenchmarkRunStatus{CompletionTime: ended},
	}
}

func TestWhatOccupiesACluster(t *testing.T) {
	now := metav1.Now()
	for name, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"nothing":                           {nil, ""},
		"a run that has ended does not":     {[]client.Object{runOf("old", &now)}, ""},
		"a run that has not ended":          {[]client.Object{runOf("old", &now), runOf("new", nil)}, "BenchmarkRun other/new has not ended"},
		"a measured pod that still is":      {[]client.Object{podWith("last", map[string]string{v1alpha1.LabelTrial: "t"})}, "the measured pod other/last still exists"},
		"a pod of somebody else's does not": {[]client.Object{podWith("web", map[string]string{"app": "web"})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := clusterOf(t, tc.objects...).occupied(t.Context())
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestWaitingForOthersIsToldAndEnds(t *testing.T) {
	var told strings.Builder
	c := clusterOf(t, runOf("new", nil))
	ctx, cancel := context.WithTimeout(t.Context(), 3*lookEvery)
	defer cancel()
	if err := c.awaitFree(ctx, progress.New(&told)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "other/new has not ended") {
		t.Errorf("got %v", err)
	}
	if want := "waiting: BenchmarkRun other/new has not ended\n"; told.String() != want {
		t.Errorf("told %q, want %q once", told.String(), want)
	}
	if err := clusterOf(t).awaitFree(t.Context(), progress.New(&told)); err != nil {
		t.Errorf("nobody is there, and %v", err)
	}
}

func TestARunIsRemovedEvenAfterAnInterruption(t *testing.T) {
	run := runOf("new", nil)
	c := clusterOf(t, run)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := c.remove(interrupted, run); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is still there: %v", err)
	}
}

func TestWhatANodeSaysOfAPodsMemory(t *testing.T) {
	const summary = `{"pods": [
		{"podRef": {"uid": "other"}, "containers": [{"memory": {"workingSetBytes": 7}}]},
		{"podRef": {"uid": "operator"}, "containers": [{"memory": {"workingSetBytes": 42000000}}]},
		{"podRef": {"uid": "starting"}}]}`
	for name, tc := range map[string]struct {
		uid     types.UID
		answer  string
		status  int
		want    int64
		wantErr string
	}{
		"of the operator's pod":          {"operator", summary, http.StatusOK, 42_000_000, ""},
		"of a pod that it does not know": {"gone", summary, http.StatusOK, 0, "they do not have pod manager"},
		"of a pod without containers":    {"starting", summary, http.StatusOK, 0, "they do not have pod manager"},
		"nothing that can be read":       {"operator", "<html>", http.StatusOK, 0, "decoding the node's statistics"},
		"that it may not say it":         {"operator", summary, http.StatusForbidden, 0, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Path
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.answer))
			}))
			defer s.Close()
			b := &Bench{cluster: &cluster{config: &rest.Config{Host: s.URL}}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "manager", UID: tc.uid}, Spec: corev1.PodSpec{NodeName: "infra"}}
			got, err := b.workingSet(t.Context(), pod)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got %d, %v; want %d and %q", got, err, tc.want, tc.wantErr)
			}
			if asked != "/api/v1/nodes/infra/proxy/stats/summary" {
				t.Errorf("asked for %s", asked)
			}
		})
	}
}
