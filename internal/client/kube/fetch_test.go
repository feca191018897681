package kube

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

type shelf map[string]string

func (s shelf) Get(_ context.Context, key, sha256 string) ([]byte, error) {
	body, ok := s[key+" "+sha256]
	switch {
	case !ok:
		return nil, artifact.ErrNotFound
	case body == "away":
		return nil, artifact.ErrUnreachable
	}
	return []byte(body), nil
}

func TestFetchReadsTheFilesOfAReport(t *testing.T) {
	const uri = "s3://bucket/ns/run/reports/abc/report.html"
	page, data := report.File{Name: "report.html", Body: []byte("<p>")}, report.File{Name: "report.json", Body: []byte("{}")}
	tests := map[string]struct {
		uri   string
		store shelf
		want  []report.File
		err   error
		says  string
	}{
		"all of them":                  {uri: uri, store: shelf{"ns/run/reports/abc/report.html d1": "<p>", "ns/run/reports/abc/report.json ": "{}"}, want: []report.File{page, data}},
		"a report of the page alone":   {uri: uri, store: shelf{"ns/run/reports/abc/report.html d1": "<p>"}, want: []report.File{page}},
		"a page of another digest":     {uri: uri, store: shelf{"ns/run/reports/abc/report.html d2": "<p>"}, err: artifact.ErrNotFound},
		"a store that does not answer": {uri: uri, store: shelf{"ns/run/reports/abc/report.html d1": "<p>", "ns/run/reports/abc/report.json ": "away"}, err: artifact.ErrUnreachable},
		"a run without a report":       {says: "BenchmarkRun quick has no report yet: wait with kubectl wait --namespace bench"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var r v1alpha1.BenchmarkRun
			r.Namespace, r.Name = "bench", "quick"
			r.Status.Report = v1alpha1.ReportRef{URI: tc.uri, SHA256: "d1"}
			got, err := fetch(t.Context(), tc.store, &r)
			if tc.want == nil {
				if err == nil || tc.err != nil && !errors.Is(err, tc.err) || !strings.HasPrefix(err.Error(), tc.says) {
					t.Errorf("error %v, want %v that says %q", err, tc.err, tc.says)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("fetch(): %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestWriteNamesThePage(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "ns", "run")
	got, err := write(folder, []report.File{{Name: "report.html", Body: []byte("<p>")}, {Name: "report.json", Body: []byte("{}")}})
	if err != nil || got != filepath.Join(folder, "report.html") {
		t.Fatalf("write() = %q, %v", got, err)
	}
	for name, want := range map[string]string{"report.html": "<p>", "report.json": "{}"} {
		if body, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(body) != want {
			t.Errorf("%s holds %q, %v", name, body, err)
		}
	}
}

func TestUnwritableReportIsError(t *testing.T) {
	dir := t.TempDir()
	occupied := filepath.Join(dir, "file")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files := []report.File{{Name: "report.html", Body: []byte("<p>")}}
	if page, err := write(filepath.Join(occupied, "below"), files); err == nil {
		t.Errorf("it is written to %s, below a file", page)
	}
	if err := os.Mkdir(filepath.Join(dir, "report.html"), 0o700); err != nil {
		t.Fatal(err)
	}
	if page, err := write(dir, files); err == nil {
		t.Errorf("it is written to %s, which is a folder", page)
	}
}

func TestAReportIsWrittenOverAnOlderOne(t *testing.T) {
	dir := t.TempDir()
	for _, body := range []string{"a long first report", "short"} {
		page, err := write(dir, []report.File{{Name: "report.html", Body: []byte(body)}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(page); err != nil || string(got) != body || !filepath.IsAbs(page) {
			t.Errorf("%s holds %q, %v; want %q", page, got, err, body)
		}
	}
}

func TestFilesOfOlderReportAreRemoved(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "notes.txt")
	for _, file := range []string{filepath.Join(dir, "junit.xml"), mine} {
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write(dir, []report.File{{Name: "report.html", Body: []byte("<p>")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "junit.xml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tests of an older report are still there: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is no report is gone: %v", err)
	}
}

// A holder of the store's credentials could replace a manifest and its files, but not the run's status.
func TestAReportIsMadeAgainFromTheManifestThatTheStatusNames(t *testing.T) {
	store, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "0c9f3f11-0000-4000-8000-000000000001"}}
	stored, err := store.Put(t.Context(), artifact.ManifestKey(download.PrefixOf(r)), "application/json", []byte(`{"schema": "another"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		sum     string
		corrupt bool
	}{
		"it is that one":               {stored.SHA256, false},
		"it was replaced":              {strings.Repeat("0", 64), true},
		"the status is an older one's": {"", false},
	} {
		r.Status.Report.ManifestSHA256 = tc.sum
		if _, err := remake(t.Context(), store, r); err == nil || errors.Is(err, artifact.ErrCorrupt) != tc.corrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}
