package controllers

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestRunWithUnavailableNodeYieldsToQueue(t *testing.T) {
	node := func(name string, deltas ...func(*corev1.Node)) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("16Gi")}, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		for _, d := range deltas {
			d(&n)
		}
		return n
	}
	cordoned := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	dead := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	small := func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("4") }
	run := func(name string, started bool) v1alpha1.BenchmarkRun {
		r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name, UID: types.UID(name), Finalizers: []string{v1alpha1.Finalizer}}}
		r.Spec = v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}},
			Loads:           []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, WarmupSeconds: new(int32), DurationSeconds: 10}},
			Blocks:          2, TimeoutSeconds: 600,
		}
		if started {
			r.Status.StartTime = &metav1.Time{Time: noon}
		}
		return r
	}
	me, other, ended := run("me", true), run("other", false), run("ended", false)
	untaken, large := run("untaken", false), run("large", false)
	untaken.Finalizers, large.Spec.Implementations[0].CPUs = nil, 7
	ended.Status.CompletionTime = &metav1.Time{Time: noon}
	bound := conduct.Trials{{
		PlannedTrial: record.PlannedTrial{Name: "me-000", Block: 1, Index: 0}, Stored: &record.Artifact{}, Ended: noon.Add(-time.Hour),
		Nodes: []record.BoundNode{{Member: "server", Node: "a"}, {Member: "generator-0", Node: "b"}},
	}}
	for name, tc := range map[string]struct {
		nodes  []corev1.Node
		trials conduct.Trials
		runs   []v1alpha1.BenchmarkRun
		want   string
	}{
		"its nodes are well":             {[]corev1.Node{node("a"), node("b")}, bound, []v1alpha1.BenchmarkRun{me, other}, ""},
		"another node is dead":           {[]corev1.Node{node("a"), node("b"), node("c", dead)}, bound, []v1alpha1.BenchmarkRun{me, other}, ""},
		"one of its nodes is dead":       {[]corev1.Node{node("a", dead), node("b")}, bound, []v1alpha1.BenchmarkRun{me, other}, "is bound to a, where"},
		"one is gone, one is cordoned":   {[]corev1.Node{node("b", cordoned), node("c"), node("d")}, bound, []v1alpha1.BenchmarkRun{me, other}, "is bound to a and b, where"},
		"nobody waits":                   {[]corev1.Node{node("a", dead), node("b")}, bound, []v1alpha1.BenchmarkRun{me, ended}, ""},
		"nobody waits for a turn alone":  {[]corev1.Node{node("a", dead), node("b", small)}, bound, []v1alpha1.BenchmarkRun{me, untaken, large}, ""},
		"it is bound to none, and waits": {[]corev1.Node{node("a", dead), node("b")}, nil, []v1alpha1.BenchmarkRun{me, other}, ""},
	} {
		b := fake.NewClientBuilder().WithScheme(newScheme(t))
		for i := range tc.nodes {
			b = b.WithObjects(&tc.nodes[i])
		}
		for i := range tc.runs {
			b = b.WithObjects(&tc.runs[i])
		}
		c := b.Build()
		end, err := giveWay(t.Context(), c, c, &me, tc.trials, v1alpha1.PodSettings{})
		if err != nil || (end != nil) != (tc.want != "") || end != nil && !strings.Contains(end.Message, tc.want) {
			t.Errorf("%s: %+v, %v", name, end, err)
		}
	}
}
