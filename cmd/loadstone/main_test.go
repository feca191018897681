package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report"
)

// Whatever somebody types that is no command, nothing is printed as if it were a result, and no cluster is asked.
func TestWhatIsNoCommandIsRefused(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for name, tc := range map[string]struct {
		args  []string
		usage bool
	}{
		"nothing":                     {nil, true},
		"a word that is no command":   {[]string{"bench"}, true},
		"a flag without a command":    {[]string{"--json"}, true},
		"a report of no run":          {[]string{"report"}, true},
		"a report of two runs":        {[]string{"report", "one", "two"}, true},
		"an analysis of no file":      {[]string{"analyse"}, true},
		"a flag that reports lack":    {[]string{"report", "--json", "run"}, false},
		"a flag that analyses lack":   {[]string{"analyse", "--again", "file"}, false},
		"a port that is no number":    {[]string{"calibrate", "--port", "http"}, false},
		"a command without its image": {[]string{"calibrate", "--", "/server"}, false},
		"a file that is not there":    {[]string{"analyse", "/nothing/here"}, false},
		"a report without a cluster":  {[]string{"report", "run"}, false},
		"a calibration without one":   {[]string{"calibrate"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), &out, tc.args)
			if err == nil || out.Len() > 0 {
				t.Fatalf("it prints %q and ends with %v", out.String(), err)
			}
			if got := err.Error() == usage; got != tc.usage {
				t.Errorf("it ends with %q, the usage: want %v", err, tc.usage)
			}
			if status(err) == 0 {
				t.Error("it ends with status 0")
			}
		})
	}
}

func TestTheUsageNamesEveryCommandAndFlag(t *testing.T) {
	for _, word := range []string{"report", "analyse", "calibrate", "--namespace", "--system-namespace", "--out", "--again", "--json", "--name", "--image", "--port"} {
		if !strings.Contains(usage, word) {
			t.Errorf("the usage does not name %s", word)
		}
	}
}

func TestAStatusErrorIsTheErrorInIt(t *testing.T) {
	err := fmt.Errorf("analysing: %w", &statusError{statusBadInput, flag.ErrHelp})
	if !errors.Is(err, flag.ErrHelp) || status(err) != statusBadInput {
		t.Errorf("%v is help: %v, status %d", err, errors.Is(err, flag.ErrHelp), status(err))
	}
	if (&statusError{statusVoid, io.EOF}).Error() != io.EOF.Error() {
		t.Error("a status is printed with its error")
	}
}

func TestHowFarARunIs(t *testing.T) {
	now := metav1.Now()
	succeeded := func(message string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: "Waiting", Message: message}}
	}
	for name, tc := range map[string]struct {
		status v1alpha1.BenchmarkRunStatus
		// has are parts of what is said; hasNot are none.
		has, hasNot []string
	}{
		"nobody has seen it":       {v1alpha1.BenchmarkRunStatus{}, []string{"operator"}, nil},
		"it waits":                 {v1alpha1.BenchmarkRunStatus{Conditions: succeeded("behind other")}, []string{"behind other"}, nil},
		"it measures":              {v1alpha1.BenchmarkRunStatus{StartTime: &now, Progress: "3/40", TimeLeft: "3m20s", Conditions: succeeded("measuring")}, []string{"3/40", "3m20s"}, []string{"measuring"}},
		"it began just now":        {v1alpha1.BenchmarkRunStatus{StartTime: &now, Conditions: succeeded("preparing")}, []string{"preparing"}, nil},
		"it has ended":             {v1alpha1.BenchmarkRunStatus{StartTime: &now, CompletionTime: &now, Progress: "40/40", Report: v1alpha1.ReportRef{URI: "s3://b/r.html"}}, []string{"bench/aa", "s3://b/r.html"}, []string{"40/40"}},
		"a condition that is mute": {v1alpha1.BenchmarkRunStatus{Conditions: succeeded("")}, []string{"operator"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := progress(&v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "aa"}, Status: tc.status})
			for _, part := range tc.has {
				if !strings.Contains(got, part) {
					t.Errorf("%q does not say %q", got, part)
				}
			}
			for _, part := range tc.hasNot {
				if strings.Contains(got, part) {
					t.Errorf("%q says %q", got, part)
				}
			}
		})
	}
}

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
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

// empty is a cluster without runs.
func empty(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).Build()
}

func TestFollowNamesARunThatIsGone(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "aa"}}
	var out bytes.Buffer
	if err := follow(ctx, empty(t), r, &out, time.Millisecond); err == nil || !strings.Contains(err.Error(), "bench/aa") || out.Len() > 0 {
		t.Errorf("it prints %q and ends with %v", out.String(), err)
	}
}
