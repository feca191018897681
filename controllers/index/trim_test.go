package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/controllers/render"
)

func TestOfAWorkflowIsKeptHowFarItIs(t *testing.T) {
	w := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "w", "namespace": "s", "managedFields": []any{map[string]any{"manager": "x"}}},
		"spec":     map[string]any{"shutdown": "Stop", "suspend": true, "templates": []any{"large"}},
		"status":   map[string]any{"phase": "Failed", "message": "because", "nodes": map[string]any{"a": "large"}},
	}}
	w.SetGroupVersionKind(render.WorkflowKind)
	got, err := TrimWorkflow(w)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"name": "w", "namespace": "s"},
		"spec": map[string]any{"shutdown": "Stop", "suspend": true}, "status": map[string]any{"phase": "Failed", "message": "because"},
	}
	if diff := cmp.Diff(want, got.(*unstructured.Unstructured).Object); diff != "" {
		t.Errorf("the workflow (-want +got):\n%s", diff)
	}
}
