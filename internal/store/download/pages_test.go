package download_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/ui/server"
)

var inFrame = regexp.MustCompile(`<iframe src="([^"]+)"`)

// The chart's pages have no store credentials: the operator serves them by their account's token and rights.
func TestSharedPagesShowReportsByTheTokenOfTheirAccount(t *testing.T) {
	config, report := download.Reported(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	scheme := runtime.NewScheme()
	must(v1alpha1.AddToScheme(scheme))
	admin, err := client.New(config, client.Options{Scheme: scheme})
	must(err)
	ofRound(t, admin)

	account := testbed.InstallPages(t, config, "../../..", "loadstone-system")
	handler, err := server.Shared{Config: account.Config, System: "loadstone-system"}.Handler(t.Context())
	must(err)
	served := httptest.NewServer(handler)
	t.Cleanup(served.Close)
	ask := func(path string) (int, string) {
		t.Helper()
		answer, err := http.Get(served.URL + path)
		must(err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		must(err)
		return answer.StatusCode, string(body)
	}
	// A history is read in the background.
	until := func(path string, so func(status int, body string) bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			status, body := ask(path)
			if so(status, body) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is %d: %s", path, status, body)
			}
		}
	}
	for path, shows := range map[string]string{
		"/": "in all namespaces", "/runs": ">quick</a>", "/runs/b/quick": "There is no report yet", "/suites": ">checkout</a>",
		"/suites/a/checkout": "small, round 1: left out: ", "/live.js": "EventSource",
	} {
		until(path, func(status int, body string) bool { return status == http.StatusOK && strings.Contains(body, shows) })
	}
	_, page := ask("/runs/a/quick")
	framed := inFrame.FindStringSubmatch(page)
	if framed == nil {
		t.Fatalf("the page shows no report: %s", page)
	}
	if status, body := ask(framed[1]); status != http.StatusOK || body != report {
		t.Errorf("the report is %d: %s", status, body)
	}
	if status, body := ask("/runs/a/quick/files/manifest.json"); status != http.StatusNotFound || !strings.Contains(body, "BenchmarkRun a/quick has no such file") {
		t.Errorf("a file that is not there is %d: %s", status, body)
	}
	if slices.Contains(account.Unused(), "list trials.loadstone.dev") {
		t.Error("the pages asked for no trials")
	}
}

func ofRound(t *testing.T, admin client.Client) {
	t.Helper()
	text, err := os.ReadFile("../../../config/gitops/suite.yaml")
	if err != nil {
		t.Fatal(err)
	}
	suite, run := &v1alpha1.BenchmarkSuite{}, &v1alpha1.BenchmarkRun{}
	if err := yaml.Unmarshal(text, suite); err != nil {
		t.Fatal(err)
	}
	suite.Namespace, suite.Name = "a", "checkout"
	if err := admin.Create(t.Context(), suite); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.Delete(context.Background(), suite); err != nil {
			t.Error(err)
		}
	})
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "quick"}, run); err != nil {
		t.Fatal(err)
	}
	run.Labels = map[string]string{v1alpha1.LabelSuite: "checkout", v1alpha1.LabelSuiteUID: string(suite.UID), v1alpha1.LabelRound: "1"}
	run.Annotations = map[string]string{v1alpha1.AnnotationRound: `{"id": "1", "run": "small", "runs": 1}`}
	if err := admin.Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}
