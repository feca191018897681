// Package index finds runs and trials in the operator's cache by indexes. Label selectors would visit every object of a namespace, most of them ended
// long ago.
package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// The indexes, by the names that they have in the cache.
const (
	byRun = "run"
	byUID = "uid"
	open  = "open"
)

var isOpen = client.MatchingFields{open: "true"}

// Index creates the indexes of a manager's cache. Call it once, before the cache starts.
func Index(ctx context.Context, cache client.FieldIndexer) error {
	for _, i := range []struct {
		of     client.Object
		name   string
		values client.IndexerFunc
	}{
		{&v1alpha1.Trial{}, byRun, runOfTrial},
		{&v1alpha1.Trial{}, open, openTrial},
		{&v1alpha1.BenchmarkRun{}, byUID, uidOfRun},
		{&v1alpha1.BenchmarkRun{}, open, openRun},
	} {
		if err := cache.IndexField(ctx, i.of, i.name, i.values); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func runOfTrial(o client.Object) []string { return []string{o.GetLabels()[v1alpha1.LabelRunUID]} }

func uidOfRun(o client.Object) []string { return []string{string(o.GetUID())} }

func openTrial(o client.Object) []string {
	if t, ok := o.(*v1alpha1.Trial); !ok || t.Status.CompletionTime != nil {
		return nil
	}
	return []string{"true"}
}

func openRun(o client.Object) []string {
	if r, ok := o.(*v1alpha1.BenchmarkRun); !ok || r.Status.CompletionTime != nil {
		return nil
	}
	return []string{"true"}
}

// TrialsOf are the trials of a run UID, in order. Read-only: they belong to the cache.
func TrialsOf(ctx context.Context, c client.Reader, namespace, run string) ([]v1alpha1.Trial, error) {
	trials, err := listTrials(ctx, c, client.InNamespace(namespace), client.MatchingFields{byRun: run}, client.UnsafeDisableDeepCopy)
	slices.SortFunc(trials, func(a, b v1alpha1.Trial) int { return int(*a.Spec.Index - *b.Spec.Index) })
	return trials, err
}

// OpenTrials are all unfinished trials. Read-only.
func OpenTrials(ctx context.Context, c client.Reader) ([]v1alpha1.Trial, error) {
	return listTrials(ctx, c, isOpen, client.UnsafeDisableDeepCopy)
}

// Turns are the first unfinished trials of each run. Read-only.
func Turns(ctx context.Context, c client.Reader) ([]v1alpha1.Trial, error) {
	trials, err := OpenTrials(ctx, c)
	slices.SortFunc(trials, func(a, b v1alpha1.Trial) int { return int(*a.Spec.Index - *b.Spec.Index) })
	seen := map[string]bool{}
	return slices.DeleteFunc(trials, func(t v1alpha1.Trial) bool {
		run := t.Labels[v1alpha1.LabelRunUID]
		later := seen[run]
		seen[run] = true
		return later
	}), err
}

func listTrials(ctx context.Context, c client.Reader, which ...client.ListOption) ([]v1alpha1.Trial, error) {
	var list v1alpha1.TrialList
	if err := c.List(ctx, &list, which...); err != nil {
		return nil, fmt.Errorf("listing trials: %w", err)
	}
	return list.Items, nil
}

// OpenRuns are all unfinished runs. Read-only.
func OpenRuns(ctx context.Context, c client.Reader) ([]v1alpha1.BenchmarkRun, error) {
	return listRuns(ctx, c, isOpen)
}

// RunOf is the run of a UID, or none. Read-only.
func RunOf(ctx context.Context, c client.Reader, uid string) ([]v1alpha1.BenchmarkRun, error) {
	return listRuns(ctx, c, client.MatchingFields{byUID: uid})
}

func listRuns(ctx context.Context, c client.Reader, which client.ListOption) ([]v1alpha1.BenchmarkRun, error) {
	var list v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &list, which, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing BenchmarkRuns: %w", err)
	}
	return list.Items, nil
}

// Requests ask for a look at each of some objects, as far as they could be found.
func Requests[T any, P interface {
	*T
	client.Object
}](ctx context.Context, found []T, err error) []reconcile.Request {
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Finding the objects of an event failed")
	}
	var list []reconcile.Request
	for i := range found {
		list = append(list, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(P(&found[i]))})
	}
	return list
}

// TrimWorkflow reduces a cached workflow to owner, phase, and whether it is suspended or stopped. Argo's notes on each step are larger than
// the rest.
func TrimWorkflow(o any) (any, error) {
	w, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	kept := &unstructured.Unstructured{Object: map[string]any{"metadata": w.Object["metadata"]}}
	kept.SetGroupVersionKind(w.GroupVersionKind())
	kept.SetManagedFields(nil)
	for _, path := range [][]string{{"spec", "shutdown"}, {"spec", "suspend"}, {"status", "phase"}, {"status", "message"}} {
		value, found, err := unstructured.NestedFieldNoCopy(w.Object, path...)
		if err != nil || !found {
			continue // A workflow that Argo has not looked at has no status.
		}
		if err := unstructured.SetNestedField(kept.Object, value, path...); err != nil {
			return nil, fmt.Errorf("keeping %s of workflow %s: %w", strings.Join(path, "."), w.GetName(), err)
		}
	}
	return kept, nil
}
