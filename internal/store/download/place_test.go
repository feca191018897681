package download

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func quick(namespace string) *v1alpha1.BenchmarkRun {
	r := &v1alpha1.BenchmarkRun{}
	r.Namespace, r.Name, r.UID = namespace, "quick", "0123456789abcdef"
	r.Spec.Artifacts.Prefix = "team"
	return r
}

func TestAKeyLiesBelowItsRun(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"the manifest":                   {"manifest.json", "team/a/quick-01234567/manifest.json"},
		"a report":                       {"reports/0123/report.html", "team/a/quick-01234567/reports/0123/report.html"},
		"three dots are a name":          {"scripts/...", "team/a/quick-01234567/scripts/..."},
		"an escape stays what it is":     {"%2e%2e/manifest.json", "team/a/quick-01234567/%2e%2e/manifest.json"},
		"the folder itself":              {".", ""},
		"nothing":                        {"", ""},
		"the run beside it":              {"../other-01234567/manifest.json", ""},
		"another namespace":              {"../../b/quick-01234567/manifest.json", ""},
		"out and in again":               {"reports/../manifest.json", ""},
		"up at the end":                  {"reports/..", ""},
		"from the root":                  {"/manifest.json", ""},
		"a folder":                       {"reports/", ""},
		"an element without a name":      {"reports//report.html", ""},
		"an element that is a dot":       {"reports/./report.html", ""},
		"what is not UTF-8":              {"reports/\xff", ""},
		"the whole key, as it is stored": {"/team/b/quick-01234567/manifest.json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := keyOf(quick("a"), tc.file); got != tc.want || ok != (tc.want != "") {
				t.Errorf("the key of %q is %q, %v, want %q", tc.file, got, ok, tc.want)
			}
		})
	}
	if key, ok := keyOf(&v1alpha1.BenchmarkRun{}, "manifest.json"); ok {
		t.Errorf("a run that the cluster has not seen has the key %q", key)
	}
}

func TestWhatIsAskedForArrives(t *testing.T) {
	for name, file := range map[string]string{
		"a plain name": "manifest.json", "a path": "trials/t-0/attempt-1/manifest.json", "what an address escapes": "scripts/a b%2f?c#d",
	} {
		t.Run(name, func(t *testing.T) {
			var got [3]string
			mux := http.NewServeMux()
			mux.HandleFunc("GET "+route, func(_ http.ResponseWriter, q *http.Request) {
				got = [3]string{q.PathValue("namespace"), q.PathValue("name"), q.PathValue("file")}
			})
			mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, address(&url.URL{Path: "/"}, "a", "quick", file).String(), nil))
			if want := [3]string{"a", "quick", file}; got != want {
				t.Errorf("%q arrives as %q", want, got)
			}
		})
	}
}
