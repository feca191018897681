package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/test/oracles"
)

func sample(t *testing.T, name string) *v1alpha1.BenchmarkRun {
	t.Helper()
	return readRun(t, filepath.Join("..", "..", "config", "samples", name))
}

func suite(t *testing.T, name string) *v1alpha1.BenchmarkRun {
	t.Helper()
	return readRun(t, filepath.Join("..", "..", "config", "suites", name))
}

func readRun(t *testing.T, name string) *v1alpha1.BenchmarkRun {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var run v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict(raw, &run); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	run.Namespace = namespace
	return &run
}

// apply creates a run after an earlier one with its name is gone, and removes it after the tests.
func apply(t *testing.T, run *v1alpha1.BenchmarkRun) error {
	t.Helper()
	err := loadstone.Client.Create(t.Context(), run)
	if apierrors.IsAlreadyExists(err) && removed() == nil {
		err = loadstone.Client.Create(t.Context(), run)
	}
	if err == nil {
		t.Cleanup(func() { leave(t, run) })
	}
	return err
}

func mustApply(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	if err := apply(t, run); err != nil {
		t.Fatal(err)
	}
}

// await polls the run until it is as wanted. On a timeout it prints the state.
func await(t *testing.T, run *v1alpha1.BenchmarkRun, patience time.Duration, what string, wanted func(*v1alpha1.BenchmarkRun) bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		if err := loadstone.Client.Get(t.Context(), client.ObjectKeyFromObject(run), run); err != nil {
			t.Fatal(err)
		}
		if wanted(run) {
			return
		}
		if time.Now().After(deadline) {
			status, err := yaml.Marshal(run.Status)
			if err != nil {
				t.Fatal(err)
			}
			t.Fatalf("%s: not %s within %s:\n%s\n%s", run.Name, what, patience, status, describeTrials(t, run))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func ended(run *v1alpha1.BenchmarkRun) bool { return run.Status.CompletionTime != nil }

// awaitSuccess fails the test unless the run succeeds.
func awaitSuccess(t *testing.T, run *v1alpha1.BenchmarkRun, patience time.Duration) {
	t.Helper()
	await(t, run, patience, "ended", ended)
	if !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionSucceeded) {
		status, err := yaml.Marshal(run.Status)
		if err != nil {
			t.Fatal(err)
		}
		t.Fatalf("%s has not succeeded:\n%s\n%s", run.Name, status, describeTrials(t, run))
	}
}

// measure applies a run, waits for its success and reads its record.
func measure(t *testing.T, run *v1alpha1.BenchmarkRun, patience time.Duration) (record.RunData, analysis.Table) {
	t.Helper()
	mustApply(t, run)
	awaitSuccess(t, run, patience)
	data := load(t, run)
	return data, analyse(t, data)
}

// whole counts undisturbed blocks. With fewer than verdict.MinBlocks, despite all repeat blocks, a test can only check that no result is wrong.
func whole(t *testing.T, data record.RunData, table analysis.Table) int {
	t.Helper()
	n := oracles.Whole(data, table)
	if n < verdict.MinBlocks {
		t.Logf("outside disturbances leave %d blocks: no verdict is asked for", n)
	}
	return n
}

// neverTwice repeats a run with a wrong result, such as a winner among equals. One run in a hundred may be wrong (inference.Alpha), and this machine
// runs more than that. Two in a row are a defect.
func neverTwice(t *testing.T, run *v1alpha1.BenchmarkRun, table analysis.Table, toldWrongly func(analysis.Table) []string) {
	t.Helper()
	first := toldWrongly(table)
	if len(first) == 0 {
		return
	}
	t.Logf("told wrongly, and measured again: %s", first)
	again := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: run.Name + "-again", Namespace: run.Namespace}, Spec: *run.Spec.DeepCopy()}
	if _, table = measure(t, again, 15*time.Minute); len(toldWrongly(table)) > 0 {
		t.Errorf("told wrongly twice: %s, and then %s", first, toldWrongly(table))
	}
}

// winners are comparisons that name a winner among implementations that are equal to the baseline.
func winners(equal ...string) func(analysis.Table) []string {
	return func(table analysis.Table) (list []string) {
		for _, c := range table.Comparisons {
			if slices.Contains(equal, c.Implementation) && (c.Verdict == verdict.Better || c.Verdict == verdict.Worse) {
				list = append(list, fmt.Sprintf("%s is %s by %s", c.Implementation, c.Verdict, c.Metric))
			}
		}
		return list
	}
}

func analyse(t *testing.T, data record.RunData) analysis.Table {
	t.Helper()
	table, err := analysis.Analyse(data)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func trials(t *testing.T, run *v1alpha1.BenchmarkRun) []v1alpha1.Trial {
	t.Helper()
	var list v1alpha1.TrialList
	if err := loadstone.Client.List(t.Context(), &list, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func describeTrials(t *testing.T, run *v1alpha1.BenchmarkRun) string {
	t.Helper()
	var b strings.Builder
	for _, tr := range trials(t, run) {
		status, err := yaml.Marshal(tr.Status)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "trial %s:\n%s\n", tr.Name, status)
	}
	return b.String()
}

// load reads a run from the object store and checks every digest.
func load(t *testing.T, run *v1alpha1.BenchmarkRun) record.RunData {
	t.Helper()
	data, err := publish.Read(t.Context(), loadstone.Store, prefix(run), "")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// planned is the number of trials: one per implementation and block, including repeat blocks.
func planned(run *v1alpha1.BenchmarkRun, data record.RunData) int {
	return int(run.Spec.Blocks+data.Manifest.RepeatBlocks) * len(run.Spec.Implementations)
}

func prefix(run *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(run.Spec.Artifacts.Prefix, record.Run{Namespace: run.Namespace, Name: run.Name, UID: string(run.UID)})
}

func measuring(t *testing.T) func(*v1alpha1.BenchmarkRun) bool {
	t.Helper()
	return func(run *v1alpha1.BenchmarkRun) bool {
		return slices.ContainsFunc(trials(t, run), underLoad)
	}
}

func underLoad(t v1alpha1.Trial) bool {
	return t.Status.StartTime != nil && t.Status.CompletionTime == nil && time.Since(t.Status.StartTime.Time) > 300*time.Millisecond
}
