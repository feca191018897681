package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestACalibrationMeasuresOneThingUnderTwoNames(t *testing.T) {
	for name, tc := range map[string]struct {
		what    twice
		image   string
		command []string
	}{
		"the sample":    {twice{name: "aa"}, "gohttp", []string{"/usr/local/bin/gohttp", "--port=8080"}},
		"another image": {twice{name: "aa", image: "zco:1", port: 9090, command: []string{"/zco"}}, "zco:1", []string{"/zco"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := tc.what.run()
			if err != nil {
				t.Fatal(err)
			}
			a, b := r.Spec.Implementations[0], r.Spec.Implementations[1]
			if a.Name == b.Name || !strings.Contains(a.Image, tc.image) || cmp.Diff(tc.command, a.Command) != "" || r.Name != "aa" {
				t.Errorf("run %+v", r)
			}
			b.Name = a.Name
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("the two differ:\n%s", diff)
			}
		})
	}
	if _, err := (twice{command: []string{"/zco"}}).run(); err == nil {
		t.Error("a command without an image is taken")
	}
}

func TestFollowEndsWithTheRun(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	ended := metav1.Now()
	for name, tc := range map[string]struct {
		status v1alpha1.BenchmarkRunStatus
		says   string
		fails  string
	}{
		"with a report":    {v1alpha1.BenchmarkRunStatus{CompletionTime: &ended, Report: v1alpha1.ReportRef{URI: "s3://b/r.html"}}, "its report is s3://b/r.html", ""},
		"without a report": {v1alpha1.BenchmarkRunStatus{CompletionTime: &ended, Conditions: []metav1.Condition{{Type: "Succeeded", Reason: "NotEnoughCPUs", Message: "too few"}}}, "", "(NotEnoughCPUs): too few"},
		"never":            {v1alpha1.BenchmarkRunStatus{StartTime: &ended, Progress: "3/40", TimeLeft: "3m20s"}, "3/40 cells measured, about 3m20s left", "which continues"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "aa"}, Status: tc.status}
			c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(r).WithObjects(r).Build()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			var out bytes.Buffer
			err := follow(ctx, c, &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "aa"}}, &out, time.Millisecond)
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("got %v, want an error that says %q", err, tc.fails)
			}
			if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), tc.says) {
				t.Errorf("it says %q, want once %q", out.String(), tc.says)
			}
		})
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "aa"}}
	if err := start(t.Context(), c, r.DeepCopy()); err != nil {
		t.Error(err)
	}
	if err := start(t.Context(), c, r.DeepCopy()); err == nil || !strings.Contains(err.Error(), "choose another --name") {
		t.Errorf("a run that is there already: %v", err)
	}
}
