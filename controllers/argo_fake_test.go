package controllers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/controllers/render"
)

// workflowCRD is as much of Argo's as a fake needs: any object, and no status subresource.
func workflowCRD() *apiextensionsv1.CustomResourceDefinition {
	yes := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "workflows.argoproj.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: render.WorkflowKind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Workflow", ListKind: "WorkflowList", Plural: "workflows", Singular: "workflow"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: render.WorkflowKind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}},
			}},
		},
	}
}

// fakeArgo plays the steps of each workflow of a namespace in their order: it calls the endpoint until it is answered 200.
type fakeArgo struct {
	c         client.Client
	namespace string
	playing   sync.WaitGroup
	// away is true while it takes no step.
	away atomic.Bool

	mu sync.Mutex
	// answers are all answers of the endpoint other than 200, and the bodies of 200.
	answers []string
}

func (a *fakeArgo) run(ctx context.Context) {
	defer a.playing.Wait()
	known := map[string]bool{}
	for ctx.Err() == nil {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(render.WorkflowKind)
		if a.c.List(ctx, list, client.InNamespace(a.namespace)) == nil {
			for i := range list.Items {
				if w := &list.Items[i]; !known[w.GetName()] {
					known[w.GetName()] = true
					a.playing.Go(func() { a.play(ctx, w) })
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

func (a *fakeArgo) said() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.answers, "\n")
}

func (a *fakeArgo) play(ctx context.Context, w *unstructured.Unstructured) {
	a.phase(ctx, w, "Running")
	templates, _, _ := unstructured.NestedSlice(w.Object, "spec", "templates")
	steps := templates[0].(map[string]any)["steps"].([]any)
	call := templates[1].(map[string]any)["http"].(map[string]any)
	for _, step := range steps {
		parameters, _, _ := unstructured.NestedSlice(step.([]any)[0].(map[string]any), "arguments", "parameters")
		trial := parameters[0].(map[string]any)["value"].(string)
		url := strings.Replace(call["url"].(string), "{{inputs.parameters.trial}}", trial, 1)
		for a.away.Load() || !a.ask(ctx, url, call) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			if apierrors.IsNotFound(a.c.Get(ctx, client.ObjectKeyFromObject(w), w.DeepCopy())) {
				return
			}
		}
	}
	a.phase(ctx, w, "Succeeded")
}

// ask does a step's request once, with the header that its template takes from the run's Secret.
func (a *fakeArgo) ask(ctx context.Context, url string, call map[string]any) (done bool) {
	req, err := http.NewRequestWithContext(ctx, call["method"].(string), url, nil)
	if err != nil {
		return a.note(false, err.Error())
	}
	header := call["headers"].([]any)[0].(map[string]any)
	ref, _, _ := unstructured.NestedStringMap(header, "valueFrom", "secretKeyRef")
	var secret corev1.Secret
	if err := a.c.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: ref["name"]}, &secret); err != nil {
		return a.note(false, err.Error())
	}
	req.Header.Set(header["name"].(string), string(secret.Data[ref["key"]]))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a.note(false, err.Error())
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return a.note(false, err.Error())
	}
	return a.note(resp.StatusCode == http.StatusOK, fmt.Sprintf("%d %s", resp.StatusCode, body))
}

func (a *fakeArgo) note(done bool, answer string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = append(a.answers, strings.TrimSpace(answer))
	return done
}

func (a *fakeArgo) phase(ctx context.Context, w *unstructured.Unstructured, phase string) {
	patch := fmt.Appendf(nil, `{"status": {"phase": %q}}`, phase)
	// A workflow that is gone has no phase.
	_ = a.c.Patch(ctx, w.DeepCopy(), client.RawPatch("application/merge-patch+json", patch))
}
