package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
)

// Each file is the name of its run: one that is "bad" cannot be made ready, and the others end with the errors that a case gives them.
func TestSeveralRunsExitWithMostSevereCode(t *testing.T) {
	missed, failed := &statusError{statusMissed, errors.New("p99 is missed")}, &statusError{statusFailed, errors.New("it crashed")}
	for name, tc := range map[string]struct {
		files string
		ends  map[string]error
		// interrupts is the interrupted run.
		interrupts    string
		want          int
		led, returned string
		err, printed  string
	}{
		"one":                       {files: "a", ends: map[string]error{"a": missed}, want: statusMissed, led: "a", err: "p99 is missed"},
		"all good":                  {files: "a b", led: "a b"},
		"one after a failure":       {files: "a b c", ends: map[string]error{"a": missed, "b": failed}, want: statusFailed, led: "a b c", err: "1 of 3 runs ended with exit code 0", printed: "loadstone: a: p99 is missed\nloadstone: b: it crashed\n"},
		"a cluster that refuses":    {files: "a b", ends: map[string]error{"a": badInput(errors.New("no")), "b": missed}, want: statusBadInput, led: "a b", err: "0 of 2 runs ended with exit code 0", printed: "loadstone: a: no\nloadstone: b: p99 is missed\n"},
		"one that cannot be ready":  {files: "a bad c", want: statusBadInput, returned: "a c", err: "there is no bad"},
		"two that cannot be ready":  {files: "bad bad", want: statusBadInput, err: "there is no bad; there is no bad"},
		"two of one name":           {files: "a b b", want: statusBadInput, returned: "a b b", err: "b and b both have the metadata.name b: give each run a different name"},
		"interrupted":               {files: "a b c", interrupts: "b", ends: map[string]error{"b": context.Canceled}, want: statusInterrupted, led: "a b", returned: "c", err: "1 of 3 runs ended with exit code 0", printed: "loadstone: b: interrupted\n"},
		"interrupted after its end": {files: "a b", interrupts: "a", want: statusInterrupted, led: "a", returned: "b", err: "1 of 2 runs ended with exit code 0"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var led, returned []string
			prepare := func(_ context.Context, out io.Writer, file string) (readyRun, error) {
				if file == "bad" {
					return readyRun{}, badInput(errors.New("there is no bad"))
				}
				lead := func(context.Context) error {
					led = append(led, file)
					if file == tc.interrupts {
						cancel()
					}
					return tc.ends[file]
				}
				return readyRun{file: file, name: file, told: screen.NewTeller(out, false), lead: lead, abandon: func() { returned = append(returned, file) }}, nil
			}
			c := New("loadstone")
			c.SetContext(ctx)
			var out, printed bytes.Buffer
			c.SetOut(&out)
			c.SetErr(&printed)
			err := runAll(c, strings.Fields(tc.files), textOutput, prepare)
			code, text := 0, ""
			if err != nil {
				code, text = status(err), err.Error()
			}
			got := []string{strings.Join(led, " "), strings.Join(returned, " "), text, printed.String()}
			if diff := cmp.Diff([]string{tc.led, tc.returned, tc.err, tc.printed}, got); code != tc.want || diff != "" {
				t.Errorf("it ends with %d, want %d: -want +got:\n%s", code, tc.want, diff)
			}
		})
	}
}

func TestEveryExitCodeHasSeverity(t *testing.T) {
	if len(byGravity) != len(codes) {
		t.Errorf("%d of %d codes have one", len(byGravity), len(codes))
	}
	for _, c := range codes {
		if got := gravest([]int{c.code}); got != c.code || gravest([]int{0, c.code}) != c.code {
			t.Errorf("code %d counts as %d", c.code, got)
		}
	}
}

func TestAllFilesAreCheckedBeforeFirstRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	good := programs(t, dir, "exit 1")
	out, err := execute(t, "run", good, written(t, "one.yaml", "spec:", "sepc:"), written(t, "two.yaml", "./plain", "./nothing"))
	if err == nil || status(err) != statusBadInput || out != "" {
		t.Fatalf("it prints %q and ends with %v", out, err)
	}
	for _, want := range []string{"one.yaml:4: sepc: unknown field", "two.yaml:6: implementations[plain].command: there is no program"} {
		if !strings.Contains(said(err), want) {
			t.Errorf("it says %s\nwant %q", said(err), want)
		}
	}
	if left, err := os.ReadDir(resultsFolder); err != nil || len(left) > 0 {
		t.Errorf("of the run that was ready there is %v, %v", left, err)
	}
}

func TestLocalRunsAreSequential(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	var files []string
	for name, script := range map[string]string{"fails": "exit 1", "works": `echo "BenchmarkSort 1000 $1 ns/op"`} {
		below := filepath.Join(dir, name)
		if err := os.Mkdir(below, 0o700); err != nil {
			t.Fatal(err)
		}
		file := programs(t, below, script)
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.Replace(text, []byte("name: programs"), []byte("name: "+name), 1), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(name, "run.yaml"))
	}
	cmd := loadstone(ctx, "run", files[0], files[1])
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	// Two blocks give no verdict.
	if got := statusAfter(err); got != statusFailed || !strings.HasSuffix(errs.String(), "loadstone: 0 of 2 runs ended with exit code 0\n") || !strings.Contains(errs.String(), "loadstone: works/run.yaml: inconclusive: ") {
		t.Errorf("it ends with status %d: %s", got, errs.String())
	}
	for i, file := range files {
		if want := fmt.Sprintf("run %d of 2: %s, from %s\n", i+1, filepath.Dir(file), file); strings.Count(string(out), want) != 1 {
			t.Errorf("it prints %s\nwant %q once", out, want)
		}
		if found, err := filepath.Glob(filepath.Join(dir, resultsFolder, filepath.Dir(file)+"-*", "plan.json")); err != nil || len(found) != 1 {
			t.Errorf("of %s there is %q, %v", file, found, err)
		}
	}
	leavesNothing(t, dir)
}

func TestClusterRunsAreSequential(t *testing.T) {
	w := newCluster(t)
	second := ofImages(t)
	text, err := os.ReadFile(second)
	w.must(err)
	w.must(os.WriteFile(second, bytes.Replace(text, []byte("name: quick"), []byte("name: slow"), 1), 0o600))
	out, end := begin(t.Context(), "run", ofImages(t), second, "--cluster")
	succeeds := func(name, reason string) {
		w.update(name, func(s *v1alpha1.BenchmarkRunStatus) {
			now := metav1.Now()
			s.CompletionTime = &now
			s.Conditions = []metav1.Condition{condition(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, reason, "of the test")}
		})
	}
	until(t, out, "quick created\nwaiting for the operator\n")
	if strings.Contains(out.String(), "slow") {
		t.Errorf("the second begins before the first has ended: %s", out.String())
	}
	succeeds("quick", v1alpha1.ReasonObjectivesMissed)
	until(t, out, "slow created\nwaiting for the operator\n")
	succeeds("slow", v1alpha1.ReasonObjectivesUndecided)
	if err := <-end; err == nil || status(err) != statusMissed || err.Error() != "0 of 2 runs ended with exit code 0" {
		t.Errorf("they end with %v", err)
	}
}
