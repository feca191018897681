package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

// withFiles returns a sample with one short block, and its files.
func withFiles(t *testing.T, name string) *v1alpha1.BenchmarkRun {
	t.Helper()
	for config, file := range map[string]string{"webdis": "webdis.json", "orders": "orders.conf"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", file))
		if err != nil {
			t.Fatal(err)
		}
		provide(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: config, Namespace: namespace}, Data: map[string]string{file: string(text)}})
	}
	run := sample(t, name)
	run.Spec.Blocks, run.Spec.Loads[0].DurationSeconds = 1, 2
	return run
}

// Two third-party images, one with a database that may write to a disk: posted data reaches the database, which uses other CPUs than the server. Its
// CPU time is read from its cgroup.
func TestAServerIsMeasuredWithItsDatabase(t *testing.T) {
	run := withFiles(t, "images.yaml")
	run.Spec.Implementations = append(run.Spec.Implementations, sample(t, "database.yaml").Spec.Implementations[1])
	data, table := measure(t, run, 10*time.Minute)
	for _, trial := range data.Trials {
		for _, cell := range trial.Servers[0].Cells {
			if trial.Manifest.Servers[0] == "nginx" {
				continue
			}
			if len(cell.Dependencies) != 1 || cell.Dependencies[0].Name != "redis" || cell.Dependencies[0].CPUNanos <= 0 {
				t.Errorf("%s: the dependencies cost %+v", trial.Manifest.Name, cell.Dependencies)
			}
			if slices.ContainsFunc(cell.Unknown, func(s string) bool { return strings.Contains(s, "cgroup of the dependency") }) {
				t.Errorf("%s: the database's cgroup was not read: %q", trial.Manifest.Name, cell.Unknown)
			}
		}
		if pod := trial.Manifest.Pods[slices.IndexFunc(trial.Manifest.Pods, func(p record.PodRecord) bool { return record.IsServer(p.Member) })]; pod.QOSClass != string(corev1.PodQOSGuaranteed) {
			t.Errorf("%s: the server's pod is %s", trial.Manifest.Name, pod.QOSClass)
		}
	}
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			if slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == validity.NotPinned }) {
				t.Errorf("%s: its server had no CPU of its own: %+v", c.Trial, c.Reasons)
			}
		}
	}
	checkReport(t, run, table)
	_, key, _ := strings.Cut(strings.TrimPrefix(run.Status.Report.URI, "s3://"), "/")
	page, err := loadstone.Store.Get(t.Context(), key, run.Status.Report.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"dependencies redis args", "POST /; Content-Type: application/json; body of 32 bytes"}
	if table.Coverage.VoidCells < table.Coverage.MeasuredCells {
		texts = append(texts, "CPU time of dependencies per request")
	}
	for _, text := range texts {
		if !bytes.Contains(page, []byte(text)) {
			t.Errorf("the report does not hold %q", text)
		}
	}
}

// A database on the wrong port ends the run with its last output.
func TestADatabaseThatIsNeverReadyFailsItsRun(t *testing.T) {
	run := withFiles(t, "database.yaml")
	run.Name, run.Spec.Implementations, run.Spec.Baseline = "database-deaf", run.Spec.Implementations[:1], ""
	own := &run.Spec.Implementations[0].Dependencies[0]
	own.Args, own.Readiness.TimeoutSeconds = []string{"--port", "6380"}, 5
	mustApply(t, run)
	await(t, run, 5*time.Minute, "ended", ended)
	const want = "implementations[memory].dependencies[redis] was not ready on port 6379 within 5 s of its start"
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionExecuted); c == nil || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, want) {
		t.Errorf("the run has ended with %+v, want a word about %q", c, want)
	}
}
