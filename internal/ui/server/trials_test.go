package server

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Shared pages have no login: whoever opens many of them must not open a watch for each.
func TestPagesFollowABoundedNumberOfRuns(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	all := &trials{ctx: t.Context(), make: func(*v1alpha1.BenchmarkRun) *mirror {
		return newMirror(c, "a", "trials", func() client.ObjectList { return &v1alpha1.TrialList{} }, func() {})
	}}
	run := func(i int) *v1alpha1.BenchmarkRun {
		r := &v1alpha1.BenchmarkRun{}
		r.UID = types.UID(strconv.Itoa(i))
		return r
	}
	first := all.mirror(run(0))
	for i := range 3 * mostLookedAt {
		all.mirror(run(1 + i))
		all.mu.Lock()
		for _, l := range all.lookedAt {
			l.seen = l.seen.Add(-time.Second) // So that each request is later than the one before, whatever the clock's resolution.
		}
		all.mu.Unlock()
		if all.mirror(run(0)) != first {
			t.Fatal("a run that is viewed all the time is not followed")
		}
	}
	if n := len(all.lookedAt); n != mostLookedAt {
		t.Errorf("%d runs are followed, want %d", n, mostLookedAt)
	}
}
