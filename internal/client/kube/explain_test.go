package kube

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestClusterErrorsArePlainSentences(t *testing.T) {
	resource := schema.GroupResource{Group: "loadstone.dev", Resource: "benchmarkruns"}
	other := errors.New("the disk is full")
	for name, tc := range map[string]struct {
		err  error
		is   error
		want string
	}{
		"nobody listens":          {&url.Error{Op: "Get", URL: "https://a", Err: errors.New("connection refused")}, ErrUnreachable, "cannot reach the cluster at a:6443: start it, or choose another one with --context or --kubeconfig (connection refused)"},
		"wrong credentials":       {apierrors.NewUnauthorized("no"), nil, "the cluster at a:6443 refused your credentials: log in again, or choose another user with --user or --context"},
		"a right that is missing": {apierrors.NewForbidden(resource, "quick", errors.New("no")), nil, "permission denied: ask the cluster administrator for permission: benchmarkruns.loadstone.dev \"quick\" is forbidden: no"},
		"a field of tomorrow":     {apierrors.NewBadRequest(`BenchmarkRun in version "v1alpha1" cannot be handled: strict decoding error: unknown field "spec.a", unknown field "spec.b"`), ErrOtherVersion, "the cluster has a different version of Loadstone: it does not know spec.a, spec.b: upgrade it with helm upgrade, or remove the field"},
		"anything else":           {other, other, "the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Explain("a:6443", tc.err)
			if got.Error() != tc.want || tc.is != nil && !errors.Is(got, tc.is) {
				t.Errorf("it says %v, want %s", got, tc.want)
			}
		})
	}
	if err := Explain("a:6443", nil); err != nil {
		t.Errorf("no error is said as %v", err)
	}
}

func TestClusterWithOtherVersionIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		groups string
		want   error
	}{
		"none at all":     {`{"groups": [{"name": "apps", "versions": [{"version": "v1"}]}]}`, ErrNotInstalled},
		"another version": {`{"groups": [{"name": "loadstone.dev", "versions": [{"version": "v9"}]}]}`, ErrOtherVersion},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"kind": "APIGroupList", "apiVersion": "v1", ` + strings.TrimPrefix(tc.groups, "{"))) // A lost answer fails the test below.
			}))
			defer server.Close()
			if _, err := Connect(t.Context(), &rest.Config{Host: server.URL}); !errors.Is(err, tc.want) {
				t.Errorf("it ends with %v, want %v", err, tc.want)
			}
		})
	}
	if _, err := Connect(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a cluster that is away ends with %v", err)
	}
}

func TestUnknownFieldIsRefusedByCluster(t *testing.T) {
	config := testbed.Cluster(t, filepath.Join("..", "..", ".."))
	c, err := Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{}
	run.Namespace, run.Name = "default", "quick"
	if err := c.Create(t.Context(), run); !apierrors.IsInvalid(err) {
		t.Errorf("a run without a spec ends with %v", err)
	}
	unknown := map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "BenchmarkRun", "metadata": map[string]any{"name": "quick", "namespace": "default"},
		"spec": map[string]any{
			"tomorrow": 1, "implementations": []any{map[string]any{"name": "a", "image": "a", "port": int64(80)}},
			"loads": []any{map[string]any{"name": "s", "tool": "wrk", "levels": []any{map[string]any{"connections": int64(1)}}}},
		},
	}
	if err := c.Create(t.Context(), object(unknown)); !errors.Is(Explain("", err), ErrOtherVersion) || !strings.Contains(Explain("", err).Error(), "it does not know spec.tomorrow") {
		t.Errorf("a field of tomorrow ends with %v", err)
	}
}

func object(fields map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: fields}
}
