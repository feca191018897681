package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

// programs writes a run that compares a program with itself, and returns its file. The program is a script, which only claims to have measured
// what its argument says.
func programs(t *testing.T, dir, script string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "bench"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "run.yaml")
	if err := os.WriteFile(file, []byte(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: programs}
spec:
  implementations:
  - {name: old, command: [./bench, "100"]}
  - {name: new, command: [./bench, "200"]}
  baseline: old
  placement: {pinning: Preferred}
  microbenchmark: {format: GoTest, limitSeconds: 60}
  blocks: 2
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMicrobenchmarksRunLocally(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results, opened := filepath.Join(dir, "results"), filepath.Join(dir, "opened")
	// This fake browser records its argument.
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"report: $1\" >"+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, err := loadstone(ctx, "run", programs(t, dir, `echo "BenchmarkSort 1000 $1 ns/op"`), "--out", results, "--open").CombinedOutput()
	// Two blocks give no verdict.
	if got := statusAfter(err); got != statusInconclusive || !strings.Contains(string(out), "report: ") {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	if page, err := os.ReadFile(opened); err != nil || !strings.Contains(string(out), string(page)) {
		t.Errorf("it opens %q, %v, and prints %s", page, err, out)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	if len(m.Trials) < 4 {
		t.Errorf("the manifest holds %+v", m.Trials)
	}
	for _, entry := range m.Trials {
		checkProgram(t, results, entry)
	}
	leavesNothing(t, dir)
}

// It is not compared, but its measurements count.
func TestSingleMicrobenchmarkIsMeasured(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	file := programs(t, dir, `echo "BenchmarkSort 1000 $1 ns/op"`)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	alone := strings.Replace(string(text), "  - {name: new, command: [./bench, \"200\"]}\n", "", 1)
	if err := os.WriteFile(file, []byte(alone), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := loadstone(ctx, "run", file, "--out", filepath.Join(dir, "results")).CombinedOutput()
	if strings.Contains(string(out), "none gave a result") { // Other programs of this machine have disturbed every process.
		if got := statusAfter(err); got != statusInconclusive {
			t.Errorf("it ends with status %d: %s", got, out)
		}
		return
	}
	if got := statusAfter(err); got != 0 || !strings.Contains(string(out), "1 case was measured, and there is nothing to compare it with\n") {
		t.Errorf("it ends with status %d: %s", got, out)
	}
}

// checkProgram looks at what lies of one process.
func checkProgram(t *testing.T, results string, entry record.TrialEntry) {
	t.Helper()
	if entry.Manifest == nil {
		t.Errorf("trial %s was not measured: %s: %s", entry.Name, entry.Reason, entry.Message)
		return
	}
	folder := filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "server-0")
	var server record.ObserverResult
	read(t, filepath.Join(folder, "result.json"), &server)
	want := map[string]float64{"old": 100, "new": 200}[entry.Servers[0]]
	if p := server.Program; p == nil || len(p.Cases) != 1 || len(p.Cases[0].Values) != 1 || len(p.Cases[0].Values[0].Samples) != 1 || p.Cases[0].Values[0].Samples[0] != want {
		t.Errorf("trial %s of %s holds %+v", entry.Name, entry.Servers[0], server.Program)
	}
	var m record.TrialManifest
	read(t, filepath.Join(filepath.Dir(folder), "manifest.json"), &m)
	if len(m.Pods) != 1 || !strings.HasSuffix(m.Pods[0].Image, "/bench") || !strings.HasPrefix(m.Pods[0].ImageID, "sha256:") {
		t.Errorf("trial %s ran %+v", entry.Name, m.Pods)
	}
}

func TestFailingMicrobenchmarkFailsRun(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	file := programs(t, dir, `test $1 = 200 && echo no memory >&2 && exit 3; echo "BenchmarkSort 1000 $1 ns/op"`)
	out, err := loadstone(ctx, "run", file, "--out", filepath.Join(dir, "results")).CombinedOutput()
	want := `implementations[new]: exit code 3, last output: "no memory"`
	if got := statusAfter(err); got != statusFailed || !strings.Contains(string(out), "TrialsFailed") || !strings.Contains(string(out), want) {
		t.Errorf("it ends with status %d: %s\nwant %s", got, out, want)
	}
	leavesNothing(t, dir)
}
