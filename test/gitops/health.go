package gitops

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Flux returns the object's state as Flux reads it (InProgress, Failed or Current) and the reason.
func Flux(object runtime.Object) (state, message string, err error) {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", "", fmt.Errorf("reading the object: %w", err)
	}
	r, err := status.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		return "", "", fmt.Errorf("asking kstatus: %w", err)
	}
	return r.Status.String(), r.Message, nil
}
