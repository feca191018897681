package main

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// retiring is a cluster of three runs: one that has ended, one that goes on, and one that waits without a finalizer.
func retiring(t *testing.T) client.Client {
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
	// The operator takes the finalizer of a run that is deleted, at some time.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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

// operatorOf is a client during whose third list the operator finishes what is deleted.
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := release(ctx, c, time.Millisecond)
	if !errors.Is(err, errStillThere) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if got := namesOf(t, c); len(got["on"]) != 1 {
		t.Errorf("the finalizer of a run that goes on was taken: %v", got)
	}
}
