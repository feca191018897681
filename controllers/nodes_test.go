package controllers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods/podstest"
	"loadstone.dev/loadstone/internal/record"
)

func TestPodOwnerIsMatchedByUID(t *testing.T) {
	yes := true
	pod := func(name, owner string, uid types.UID) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: name, Labels: map[string]string{v1alpha1.LabelTrial: owner},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: owner, UID: uid, Controller: &yes}},
		}}
	}
	pods := []corev1.Pod{pod("a", "there", "1"), pod("b", "there", "of-one-before"), pod("c", "gone", "2"), {ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "nobodys"}}}
	trial := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "there", UID: "1"}}
	c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(trial, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, &pods[0], &pods[3]).Build()
	owners, err := ownersOf(t.Context(), c, pods)
	if err != nil || len(owners) != 1 || owners["1"].Name != "there" {
		t.Errorf("got %v, %v", owners, err)
	}
	if measured, err := measuredPods(t.Context(), c); err != nil || len(measured) != 1 || measured[0].Name != "a" {
		t.Errorf("measured are %v, %v", measured, err)
	}
	if nodes, err := readNodes(t.Context(), c); err != nil || len(nodes) != 1 || nodes[0].Name != "n" {
		t.Errorf("nodes are %v, %v", nodes, err)
	}
}

func TestPodNameTakenByOtherOwnerIsDetected(t *testing.T) {
	yes := true
	pod := func(name string, of types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: "quick-000-go", UID: of, Controller: &yes}},
		}}
	}
	stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "stranger"}}
	elsewhere := pod("elsewhere", "another")
	elsewhere.Namespace = "other"
	c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(pod("mine", "mine"), pod("another", "another"), stranger, elsewhere).
		WithIndex(&corev1.Pod{}, metav1.ObjectNameField, func(o client.Object) []string { return []string{o.GetName()} }).Build()
	for name, want := range map[string]bool{"mine": false, "another": true, "stranger": true, "elsewhere": false, "gone": false} {
		if taken, err := takenName(t.Context(), c, pod(name, "mine")); err != nil || taken != want {
			t.Errorf("the name of %s is taken: %v, %v", name, taken, err)
		}
	}
}

func TestDeletionWaitsForPodsUnlessStuck(t *testing.T) {
	yes := true
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "u"}}
	mine := map[string]string{v1alpha1.LabelRunUID: "u"}
	trial := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "t", Labels: mine}}
	pod := func(node string, deltas ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: "p", Labels: mine,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: "t", UID: "1", Controller: &yes}},
		}, Spec: corev1.PodSpec{NodeName: node}}
		for _, d := range deltas {
			d(p)
		}
		return p
	}
	goes := func(since time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: noon.Add(-since)}, []string{"example.com/keep"}
		}
	}
	slowly := func(p *corev1.Pod) {
		p.DeletionGracePeriodSeconds = new(int64(365 * 24 * 3600))
		p.DeletionTimestamp = &metav1.Time{Time: p.DeletionTimestamp.Add(365 * 24 * time.Hour)}
	}
	nobodys := func(p *corev1.Pod) { p.OwnerReferences = nil }
	anothers := func(p *corev1.Pod) { p.Labels = map[string]string{v1alpha1.LabelRunUID: "v"} }
	for name, tc := range map[string]struct {
		there []client.Object
		left  int
		stuck []string
		// stays is true of a pod that is still there afterwards.
		stays bool
	}{
		"nothing":                                {},
		"a trial":                                {there: []client.Object{trial}, left: 1},
		"a pod":                                  {there: []client.Object{pod("n")}, left: 1},
		"a pod that goes":                        {there: []client.Object{pod("n", goes(9*time.Minute))}, left: 1, stays: true},
		"a pod that should have gone":            {there: []client.Object{pod("n", goes(10*time.Minute))}, stuck: []string{"p"}, stays: true},
		"a pod that takes a year to go":          {there: []client.Object{pod("n", goes(10*time.Minute), slowly)}, stuck: []string{"p"}, stays: true},
		"a pod that goes on a node that is away": {there: []client.Object{pod("away", goes(time.Minute))}, stuck: []string{"p"}, stays: true},
		"a pod that is no trial's":               {there: []client.Object{pod("n", nobodys)}},
		"one that is no trial's, and goes":       {there: []client.Object{pod("n", nobodys, goes(time.Minute))}, stays: true},
		"a pod of another run":                   {there: []client.Object{pod("n", anothers)}, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := []client.Object{
				&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
				&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "away"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}},
			}
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(append(nodes, tc.there...)...).Build()
			left, stuck, err := clearNodes(t.Context(), c, c, run, noon)
			if err != nil || left != tc.left || !slices.Equal(stuck, tc.stuck) {
				t.Errorf("%d are waited for and %v are stuck, %v; want %d and %v", left, stuck, err, tc.left, tc.stuck)
			}
			var trials v1alpha1.TrialList
			var pods corev1.PodList
			if err := errors.Join(c.List(t.Context(), &trials), c.List(t.Context(), &pods)); err != nil {
				t.Fatal(err)
			}
			if len(trials.Items) > 0 || len(pods.Items) > 0 != tc.stays {
				t.Errorf("%d trials and %d pods are there afterwards", len(trials.Items), len(pods.Items))
			}
		})
	}
}

func TestPodsOfEndedTrialAreDeletedInOneRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		// going is for how long the first pod has been going; negative if it is not.
		going    time.Duration
		requests int
		again    time.Duration
	}{
		"none is going":                       {-1, 1, 0},
		"one is going since a moment ago":     {0, 0, tidyPause},
		"one is going for long, the other no": {time.Minute, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			trial := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick-000-go", UID: "trial-uid", Labels: map[string]string{v1alpha1.LabelRunUID: "run-uid"}}}
			first, second := pod(v1alpha1.RoleGenerator), pod(v1alpha1.RoleServer)
			other := podstest.Running("quick-001-go", record.MemberServer(0), noon)
			other.OwnerReferences[0].UID = "other-uid"
			for _, p := range []*corev1.Pod{first, second, other} {
				p.Labels[v1alpha1.LabelRunUID] = "run-uid"
			}
			if tc.going >= 0 {
				first.DeletionTimestamp, first.Finalizers = &metav1.Time{Time: noon.Add(-tc.going)}, []string{"example.com/kept"}
			}
			requests := 0
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(first, second, other).WithInterceptorFuncs(interceptor.Funcs{
				DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteAllOfOption) error {
					requests++
					return c.DeleteAllOf(ctx, o, opts...)
				},
			}).Build()
			again, err := tidyPods(t.Context(), c, trial, noon)
			if err != nil || again != tc.again || requests != tc.requests {
				t.Errorf("%d requests, the next look after %s, %v; want %d and %s", requests, again, err, tc.requests, tc.again)
			}
			gone := apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(second), &corev1.Pod{}))
			if gone != (tc.requests > 0) {
				t.Errorf("the second pod is gone: %v", gone)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(other), &corev1.Pod{}); err != nil {
				t.Errorf("the pod of another trial: %v", err)
			}
		})
	}
}
