package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/doctor"
)

// Exit codes: with a verdict, with a fault found by doctor, without a verdict.
const exitSuccess, exitFault, exitInconclusive = 0, 1, 4

// command runs bin/loadstone and returns its output and exit code.
func command(t *testing.T, patience time.Duration, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	c := exec.CommandContext(ctx, filepath.Join("..", "..", "bin", "loadstone"), args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("loadstone %s: %v", strings.Join(args, " "), err)
	}
	t.Logf("loadstone %s: exit code %d\n%s%s", strings.Join(args, " "), c.ProcessState.ExitCode(), stdout.String(), stderr.String())
	return stdout.String(), c.ProcessState.ExitCode()
}

// measureByCommand applies a run file with the program, follows the run and fetches its report. It returns the ended run, the exit code and the page.
func measureByCommand(t *testing.T, file string) (run *v1alpha1.BenchmarkRun, code int, page string) {
	t.Helper()
	run = readRun(t, file)
	t.Cleanup(func() { leave(t, run) })
	out, code := command(t, 15*time.Minute, "run", file, "--cluster", "--namespace", namespace, "--output", "json", "--out", t.TempDir())
	awaitSuccess(t, run, 3*time.Minute)
	var first, last struct{ Event, Message, Verdict, Report string }
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		last.Event, last.Message = "", ""
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if i == 0 {
			first = last
		}
	}
	if want := "benchmarkrun " + client.ObjectKeyFromObject(run).String() + " created"; first.Event != "note" || first.Message != want {
		t.Errorf("it begins with %+v, want %q", first, want)
	}
	if last.Event != "end" || last.Verdict != run.Status.Verdict || last.Report == "" {
		t.Errorf("it ends with %+v, want %q", last, run.Status.Verdict)
	}
	want := exitInconclusive
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionConclusive) {
		want = exitSuccess
	}
	if code != want {
		t.Errorf("it ends with %d, want %d", code, want)
	}
	return run, code, last.Report
}

func checkCommands(t *testing.T, run *v1alpha1.BenchmarkRun, code int, page string) {
	t.Helper()
	fetched, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(fetched); hex.EncodeToString(sum[:]) != run.Status.Report.SHA256 {
		t.Errorf("it has fetched another page than %+v", run.Status.Report)
	}
	for name, tc := range map[string]struct {
		args  []string
		code  int
		wants []string
		// fetches is true for commands that print the path of the page.
		fetches bool
	}{
		"list":   {args: []string{"list"}, wants: []string{run.Name, "Succeeded", run.Status.Verdict}},
		"wait":   {args: []string{"wait", run.Name}, code: code, wants: []string{run.Status.Verdict}},
		"watch":  {args: []string{"watch", run.Name}, code: code, wants: []string{run.Status.Verdict, "report: "}, fetches: true},
		"report": {args: []string{"report", run.Name}, fetches: true},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(tc.args, "--namespace", namespace)
			if tc.fetches {
				args = append(args, "--out", t.TempDir())
			}
			out, got := command(t, 2*time.Minute, args...)
			if got != tc.code {
				t.Errorf("it ends with %d, want %d", got, tc.code)
			}
			for _, want := range tc.wants {
				if !strings.Contains(out, want) {
					t.Errorf("it does not print %q", want)
				}
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if text, err := os.ReadFile(strings.TrimPrefix(lines[len(lines)-1], "report: ")); tc.fetches && (err != nil || string(text) != string(fetched)) {
				t.Errorf("it fetches a page of %d bytes, %v, want the %d bytes of the first", len(text), err, len(fetched))
			}
		})
	}
}

// checkDoctor expects doctor to find no fault in the cluster.
func checkDoctor(t *testing.T) {
	t.Helper()
	out, code := command(t, 2*time.Minute, "doctor", "--cluster", "--output", "json")
	var found []doctor.Finding
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	levels := map[string]doctor.Level{}
	for _, f := range found {
		levels[f.Check] = f.Level
	}
	for _, check := range []string{"Kubernetes", "operator", "Argo", "object store", "roles"} {
		if level, is := levels[check]; !is || level == doctor.Fault {
			t.Errorf("doctor finds of %s: %v", check, level)
		}
	}
	want := exitSuccess
	if doctor.Faults(found) > 0 {
		want = exitFault
	}
	if code != want {
		t.Errorf("doctor ends with %d, want %d", code, want)
	}
}
