package gitops

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/flux"
)

var rollouts = filepath.Join(root, "config", "gitops", "rollouts")

// answering answers all requests with a status and a text.
type answering struct {
	status int
	text   string
}

func (a answering) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodPost || q.Header.Get("Authorization") != "Bearer secret" {
		a = answering{http.StatusTeapot, "no request of the template's"}
	}
	return &http.Response{StatusCode: a.status, Body: io.NopCloser(strings.NewReader(a.text)), Request: q}, nil
}

func TestArgoRolloutsReadsOutcomes(t *testing.T) {
	template, err := os.ReadFile(filepath.Join(rollouts, "analysistemplate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	come := func(outcome v1alpha1.RoundOutcome) string {
		text, err := json.Marshal(webhook.Round{Round: 7, Outcome: outcome, Message: "small: throughput 0.81 of anchor's"})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, tc := range map[string]struct {
		answer answering
		want   string
	}{
		"it has passed":                   {answering{200, come(v1alpha1.RoundPassed)}, "Successful"},
		"it has missed an objective":      {answering{200, come(v1alpha1.RoundMissed)}, "Failed"},
		"a run has failed":                {answering{200, come(v1alpha1.RoundFailed)}, "Failed"},
		"it is inconclusive":              {answering{200, come(v1alpha1.RoundInconclusive)}, "Inconclusive"},
		"it was replaced":                 {answering{200, come(v1alpha1.RoundReplaced)}, "Inconclusive"},
		"it lacks a run":                  {answering{200, come(v1alpha1.RoundIncomplete)}, "Inconclusive"},
		"it is in progress":               {answering{200, come("")}, "Error"},
		"it was just asked for":           {answering{202, come("")}, "Error"},
		"the token is not the suite's":    {answering{401, "there is no such webhook"}, "Error"},
		"the API server is away":          {answering{503, "try again"}, "Error"},
		"a proxy answers in its place":    {answering{200, "<html>log in</html>"}, "Successful"}, // The page for users warns of it.
		"an outcome that nobody knows of": {answering{200, come("Unheard")}, "Inconclusive"},
	} {
		t.Run(name, func(t *testing.T) {
			phase, value, err := ArgoRollouts(string(template), map[string]string{"image": "shop:2", "token": "secret"}, tc.answer)
			if err != nil || phase != tc.want {
				t.Errorf("it is measured as %s with %s, %v, want %s", phase, value, err, tc.want)
			}
		})
	}
}

// Arguments must be escaped as JSON in the body.
func TestWebhookReadsBodyOfRolloutsTemplate(t *testing.T) {
	template, err := os.ReadFile(filepath.Join(rollouts, "analysistemplate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body) // The test sees missing parts below.
		body = q.URL.Path + " " + string(text)
	}))
	defer server.Close()
	filled := strings.Replace(string(template), "http://loadstone-webhook.loadstone-system.svc", server.URL, 1)
	if _, _, err := ArgoRollouts(filled, map[string]string{"image": `shop"2`, "token": "secret"}, nil); err != nil {
		t.Fatal(err)
	}
	if want := `/v1/namespaces/default/benchmarksuites/servers/round {"image":"shop\"2"}`; body != want {
		t.Errorf("it sends %s, want %s", body, want)
	}
	if _, _, err := ArgoRollouts(filled, map[string]string{"token": "secret"}, nil); err == nil || !strings.Contains(err.Error(), "image") {
		t.Errorf("without an image it ends with %v", err)
	}
}

func TestArgoRolloutsAcceptsSamples(t *testing.T) {
	crds := filepath.Join(flux.Module(t, root, "github.com/argoproj/argo-rollouts", "ROLLOUTS_VERSION"), "manifests", "crds")
	paths := []string{filepath.Join(crds, "analysis-template-crd.yaml"), filepath.Join(crds, "rollout-crd.yaml")}
	wantTaken(t, paths, filepath.Join(rollouts, "analysistemplate.yaml"), filepath.Join(rollouts, "rollout.yaml"))
}

// wantTaken expects an API server to accept the objects of files, each with a spec, and to refuse unknown fields.
func wantTaken(t *testing.T, definitions []string, files ...string) {
	t.Helper()
	config := testbed.Cluster(t, root)
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: definitions, ErrorIfPathMissing: true, MaxTime: flux.Patience}); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		o := &unstructured.Unstructured{}
		readYAML(t, file, &o.Object)
		o.SetNamespace("default")
		create := func() error {
			return c.Create(t.Context(), o.DeepCopy(), client.DryRunAll, client.FieldValidation("Strict"))
		}
		if err := create(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := unstructured.SetNestedField(o.Object, "x", "spec", "nothing"); err != nil {
			t.Fatal(err)
		}
		if err := create(); err == nil || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s with a field that there is not ends with %v: nothing was checked", file, err)
		}
	}
}
