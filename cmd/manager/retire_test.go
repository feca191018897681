package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
)

// retiring is a cluster with an ended run, an unfinished run, and a waiting run without finalizer.
func retiring(t *testing.T) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	done := ended("done", metav1.ConditionTrue, metav1.ConditionTrue)
	done.Finalizers = []string{v1alpha1.Finalizer, "example.com/other"}
	on := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "on", Finalizers: []string{v1alpha1.Finalizer}}}
	queued := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "queued"}}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(done, on, queued).WithStatusSubresource(&v1alpha1.BenchmarkRun{}).Build()
}

func namesOf(t *testing.T, c client.Client) map[string][]string {
	t.Helper()
	var runs v1alpha1.BenchmarkRunList
	if err := c.List(t.Context(), &runs); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, r := range runs.Items {
		out[r.Name] = r.Finalizers
	}
	return out
}

func TestUninstallingLeavesNoRunThatHangs(t *testing.T) {
	c := retiring(t)
	// The operator removes a deleted run's finalizer after a while.
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	operator := operatorOf{c, 0}
	if err := release(ctx, &operator, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	got := namesOf(t, c)
	if len(got) != 1 || len(got["done"]) != 1 || got["done"][0] != "example.com/other" {
		t.Errorf("left are the runs with finalizers %v, want only done, without Loadstone's", got)
	}
}

// operatorOf is a client during whose third list the operator finishes deletions.
type operatorOf struct {
	client.Client
	lists int
}

func (o *operatorOf) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if o.lists++; o.lists == 3 {
		on := &v1alpha1.BenchmarkRun{}
		if err := o.Get(ctx, client.ObjectKey{Namespace: "team", Name: "on"}, on); err != nil {
			return err
		}
		if on.DeletionTimestamp.IsZero() {
			return errors.New("the run that goes on was not deleted")
		}
		on.Finalizers = nil
		if err := o.Update(ctx, on); err != nil {
			return err
		}
	}
	return o.Client.List(ctx, list, opts...)
}

func TestAnOperatorThatIsGoneIsNamed(t *testing.T) {
	c := retiring(t)
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	err := release(ctx, interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, how ...client.ListOption) error {
			if looks++; looks == 10 {
				cancel() // Like the end of the hook's time.
			}
			return c.List(ctx, list, how...)
		},
	}), time.Millisecond)
	if !errors.Is(err, errStillThere) {
		t.Errorf("got %v", err)
	}
	if got := namesOf(t, c); len(got["on"]) != 1 {
		t.Errorf("the finalizer of a run that goes on was taken: %v", got)
	}
}

func TestUninstallingBesideASuiteIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		suspended bool
		want      string
	}{
		"that goes on":      {false, "BenchmarkSuite team/nightly would make new runs: delete it, or set its spec.suspend"},
		"that is suspended": {true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := retiring(t)
			suite := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "nightly"}, Spec: v1alpha1.BenchmarkSuiteSpec{Suspend: &tc.suspended}}
			if err := c.Create(t.Context(), suite); err != nil {
				t.Fatal(err)
			}
			if err := noSuites(t.Context(), c); fmt.Sprint(err) != "<nil>" && tc.want == "" || tc.want != "" && !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

type conflicting struct {
	client.Client
	patches int
}

func (c *conflicting) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if c.patches++; c.patches == 1 {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("benchmarkruns").GroupResource(), o.GetName(), errors.New("it has changed"))
	}
	return c.Client.Patch(ctx, o, p, opts...)
}

func TestARunThatSomebodyElseChangesIsReleasedLater(t *testing.T) {
	c := &conflicting{Client: retiring(t)}
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	if err := release(ctx, &operatorOf{c, 0}, time.Millisecond); err != nil || c.patches != 2 {
		t.Errorf("after %d patches it ends with %v, want 2 and none", c.patches, err)
	}
}
