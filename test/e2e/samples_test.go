package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
)

// shortened measures a sample's cells for a second each.
func shortened(run *v1alpha1.BenchmarkRun) {
	for i := range run.Spec.Loads {
		run.Spec.Loads[i].DurationSeconds = 1
	}
}

// shortenedFile writes a sample with loads of one second.
func shortenedFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, regexp.MustCompile(`durationSeconds: \d+`).ReplaceAll(text, []byte("durationSeconds: 1")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The same server twice, while fifty browsers have the queue open: neither is reported as faster. Its noise floor is stored and used in reports for
// the same machine.
func TestAASampleWithViewersShowsNoDifference(t *testing.T) {
	run := sample(t, "aa.yaml")
	shortened(run)
	run.Spec.Blocks, run.Spec.Loads[0].WarmupSeconds = verdict.MinBlocks, new(int32(0))
	run.Spec.Loads[0].Levels = run.Spec.Loads[0].Levels[:1]
	leave := viewers(t, 50)
	mustApply(t, run)
	awaitSuccess(t, run, 15*time.Minute)
	leave()
	table := analyse(t, load(t, run))
	t.Log(run.Status.Verdict)
	neverTwice(t, run, table, winners("again"))
	if table.NoiseFloor == nil || len(table.NoiseFloor.Entries) == 0 {
		t.Error("the run has no noise floor")
	}
	checkReport(t, run, table)
}

// viewers opens the queue n times until the returned function is called, which expects that each page was answered.
func viewers(t *testing.T, n int) func() {
	t.Helper()
	program := filepath.Join(t.TempDir(), "viewers")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../hack/viewers").CombinedOutput(); err != nil {
		t.Fatalf("building the viewers: %v: %s", err, out)
	}
	// The pages stay open while cat waits for input.
	c := exec.CommandContext(t.Context(), program, "-n", strconv.Itoa(n), "-loadstone", filepath.Join("..", "..", "bin", "loadstone"), "cat")
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // It must end its children.
	var says bytes.Buffer
	c.Stderr = &says
	open, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		err := errors.Join(open.Close(), c.Wait())
		t.Log(says.String())
		if err != nil || !strings.Contains(says.String(), "viewers-pages-lost\t0\t") {
			t.Errorf("the viewers: %v", err)
		}
	}
}

// Two servers on one CPU: both were measured there, and seven short blocks find a planted cost.
func TestADuetFindsAPlantedCost(t *testing.T) {
	run := sample(t, "duet.yaml")
	run.Spec.Implementations[1].Command[2] = "--burn=" + burn
	shortened(run)
	run.Spec.Blocks, run.Spec.Loads[0].Levels = verdict.MinBlocks, run.Spec.Loads[0].Levels[1:]
	data, table := measure(t, run, 15*time.Minute)
	for _, trial := range data.Trials {
		for _, seen := range [][]string{{trial.Servers[0].Cells[0].CPUsAllowed, trial.Servers[1].Cells[0].CPUsAllowed}} {
			if seen[0] == "" || seen[0] != seen[1] {
				t.Errorf("%s: the servers ran on CPUs %q and %q: want the same one", trial.Manifest.Name, seen[0], seen[1])
			}
		}
	}
	for _, c := range table.Comparisons {
		t.Log(run.Status.Verdict)
		checkCost(t, table, c, whole(t, data, table) >= verdict.MinBlocks)
	}
	checkReport(t, run, table)
}

// A search ends with a rate, or says why it has none.
func TestASearchFindsARate(t *testing.T) {
	run := sample(t, "capacity.yaml")
	shortened(run)
	run.Spec.Blocks, run.Spec.Loads[0].Search.Steps = 1, 5
	mustApply(t, run)
	awaitSuccess(t, run, 10*time.Minute)
	table := analyse(t, load(t, run))
	if len(table.Capacities) != len(run.Spec.Implementations) {
		t.Fatalf("%d capacities", len(table.Capacities))
	}
	for _, c := range table.Capacities {
		t.Logf("%s: %+v", c.Implementation, c.Trials)
		for _, trial := range c.Trials {
			if len(trial.Steps) < 4 {
				t.Errorf("%s tried %d rates", c.Implementation, len(trial.Steps))
			}
		}
	}
	checkReport(t, run, table)
}
