package controllers

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

type triesShelf struct {
	Store
	err error
}

func (s triesShelf) Find(_ context.Context, key string) (record.Artifact, error) {
	return record.Artifact{Key: key}, s.err
}

func TestReportIsStartedByFiveOperators(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "large", UID: "a"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).WithStatusSubresource(run).Build()
	missing := []error{artifact.ErrNotFound, artifact.ErrDenied} // The latter from a store whose key may not list.
	for operator := int32(1); operator <= most+1; operator++ {
		var tries Tries
		for range 2 { // A retry after an outage of the store is no crash.
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(run), run); err != nil {
				t.Fatal(err)
			}
			err := tries.Begin(t.Context(), c, triesShelf{err: missing[operator%2]}, run, "large-a")
			if refused := operator > most; errors.Is(err, ErrTooMany) != refused || (err != nil) != refused {
				t.Errorf("operator %d: %v", operator, err)
			}
			if want := min(operator, most); run.Status.Report.Tries != want {
				t.Errorf("operator %d: %d tries are written, want %d", operator, run.Status.Report.Tries, want)
			}
		}
	}
	var tries Tries
	for range 2 { // Once an operator has survived a try, none has ended over the report, and its next are not counted.
		if err := errors.Join(tries.Survived(t.Context(), c, run), tries.Begin(t.Context(), c, triesShelf{err: artifact.ErrNotFound}, run, "large-a")); err != nil {
			t.Error(err)
		}
	}
	if run.Status.Report.Tries != 0 {
		t.Errorf("%d tries are written of a report that was survived", run.Status.Report.Tries)
	}
	if err := new(Tries).Begin(t.Context(), c, triesShelf{}, run, "large-a"); err != nil {
		t.Errorf("when it was made: %v", err)
	}
	if err := new(Tries).Begin(t.Context(), c, triesShelf{err: artifact.ErrUnreachable}, run, "large-a"); !errors.Is(err, artifact.ErrUnreachable) {
		t.Errorf("while the store is away: %v", err)
	}
}
