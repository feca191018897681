package cli

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	// killsVariable asks for more kills than an ordinary test has, and killSeedVariable for other moments.
	killsVariable, killSeedVariable = "LOADSTONE_TEST_KILLS", "LOADSTONE_TEST_KILL_SEED"
	// killsOfARun is how often one run is killed before it may end.
	killsOfARun = 3
	// killWithin bounds the random moment: about the run's duration.
	killWithin = 7 * time.Second
)

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Each run is killed a few times, also while it is resumed, then left alone. A moment after the run's end does not count.
func TestKilledRunIsResumed(t *testing.T) {
	dir := servers(t)
	moments := rand.New(rand.NewPCG(uint64(fromEnvironment(t, killSeedVariable, 1)), 0))
	wanted := fromEnvironment(t, killsVariable, killsOfARun)
	for kills, run := 0, 1; kills < wanted; run++ {
		results := filepath.Join(dir, fmt.Sprintf("results-%d", run))
		file := comparison(t, dir, ", {connections: 8}]", "]", "warmupSeconds: 1", "warmupSeconds: 0")
		for range min(wanted-kills, killsOfARun) {
			after := time.Duration(moments.Int64N(int64(killWithin)))
			if killed(t, loadstone(t.Context(), "run", file, "--resume", "--out", results), after) {
				kills++
				t.Logf("%s is killed after %s: %d of %d", filepath.Base(results), after, kills, wanted)
			}
			leavesNothing(t, dir)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		out, err := loadstone(ctx, "run", file, "--resume", "--out", results).CombinedOutput()
		cancel()
		// Two blocks give no verdict.
		if got := statusAfter(err); got != statusInconclusive {
			t.Fatalf("it ends with status %d: %s", got, out)
		}
		page := regexp.MustCompile(`(?m)^report: (.*)report\.html$`).FindSubmatch(out)
		if page == nil {
			t.Fatalf("it names no report: %s", out)
		}
		checkWhole(t, results)
		checkCountedOnce(t, string(page[1])+"report.json")
		leavesNothing(t, dir)
	}
}

// checkWhole checks that a run's record holds every trial once, with all that it names.
func checkWhole(t *testing.T, results string) {
	t.Helper()
	folder, err := artifact.OpenFolder(filepath.Dir(results))
	if err != nil {
		t.Fatal(err)
	}
	data, err := folder.Load(t.Context(), filepath.Base(results), "")
	if err != nil {
		t.Fatalf("the record cannot be read: %v", err)
	}
	m := data.Manifest
	if want := int(m.Plan.Blocks+m.RepeatBlocks) * 2; len(m.Trials) != want || m.Blocks != m.Plan.Blocks {
		t.Errorf("it has %d trials of %d blocks, want %d", len(m.Trials), m.Blocks, want)
	}
	seen := map[string]bool{}
	for _, entry := range m.Trials {
		if seen[entry.Name] {
			t.Errorf("trial %s is there twice", entry.Name)
		}
		seen[entry.Name] = true
	}
	for _, trial := range data.Trials {
		if trial.Manifest.Run != m.Run {
			t.Errorf("trial %s is of the run %+v, not of %+v", trial.Manifest.Name, trial.Manifest.Run, m.Run)
		}
		if before := int32(len(trial.Manifest.Failures)); trial.Manifest.Attempt != before+1 {
			t.Errorf("trial %s is attempt %d, after %q", trial.Manifest.Name, trial.Manifest.Attempt, trial.Manifest.Failures)
		}
	}
	if m.Started.IsZero() || m.Ended.Before(m.Started) {
		t.Errorf("the run began at %s and ended at %s", m.Started, m.Ended)
	}
	err = filepath.WalkDir(results, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkCountedOnce checks that a report counts no trial twice.
func checkCountedOnce(t *testing.T, path string) {
	t.Helper()
	var table struct {
		Groups []struct {
			Implementation string
			Cells          []struct{ Trial string }
		}
	}
	read(t, path, &table)
	if len(table.Groups) != 2 {
		t.Errorf("the report has %d groups", len(table.Groups))
	}
	for _, g := range table.Groups {
		seen := map[string]bool{}
		for _, c := range g.Cells {
			if seen[c.Trial] || c.Trial == "" {
				t.Errorf("%s counts trial %q twice", g.Implementation, c.Trial)
			}
			seen[c.Trial] = true
		}
		if len(seen) < 2 {
			t.Errorf("%s has %d cells", g.Implementation, len(seen))
		}
	}
}

func TestInterruptedRunIsResumedToFullReport(t *testing.T) {
	dir := servers(t)
	file := comparison(t, dir, ", {connections: 8}]", "]", "warmupSeconds: 1", "warmupSeconds: 0", "blocks: 2", "blocks: 3")
	t.Chdir(dir)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := loadstone(ctx, "run", file)
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), "block 2/3"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the second block does not begin: %s", out.String())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := statusAfter(cmd.Wait()); got != statusInterrupted {
		t.Fatalf("it ends with status %d: %s", got, out.String())
	}
	// A second resumption finds the run complete, and reports it again.
	for _, want := range []string{"was resumed at", "report: "} {
		text, err := loadstone(ctx, "run", "--resume", file).CombinedOutput()
		if got := statusAfter(err); got != statusInconclusive || !strings.Contains(string(text), want) {
			t.Fatalf("resumed, it ends with status %d: %s\nwant %q", got, text, want)
		}
	}
	folders, err := filepath.Glob(filepath.Join(resultsFolder, "quick-*", "manifest.json"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("the run lies in %v, %v", folders, err)
	}
	var m record.RunManifest
	read(t, folders[0], &m)
	notes := strings.Join(m.Notes, "\n")
	if m.Blocks != 3 || strings.Contains(notes, "interrupted") || strings.Count(notes, "was resumed at") != 1 {
		t.Errorf("the manifest holds %d blocks and the notes %q", m.Blocks, notes)
	}
	whole, err := filepath.Abs(filepath.Dir(folders[0]))
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, whole)
}
