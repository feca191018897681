package lookup

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// TrimTrial is what the operator's cache keeps of a trial. One that has ended is not measured again: of its spec only the timetable is kept and who
// was measured, since a thousand runs leave twenty thousand trials.
func TrimTrial(o any) (any, error) {
	t, ok := o.(*v1alpha1.Trial)
	if !ok {
		return o, nil
	}
	t.ManagedFields = nil
	if t.Status.CompletionTime == nil {
		return t, nil
	}
	for i, s := range t.Spec.Servers {
		t.Spec.Servers[i] = v1alpha1.Implementation{Name: s.Name, CPUs: s.CPUs}
	}
	for i := range t.Spec.Sweep.Cells {
		t.Spec.Sweep.Cells[i].Request = v1alpha1.Request{}
	}
	return t, nil
}

// TrimWorkflow is what the operator's cache keeps of a workflow: whose it is, how far it is, and whether somebody holds or ends it. What Argo notes
// of each step is larger than all the rest.
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
