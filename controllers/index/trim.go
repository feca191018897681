package index

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
