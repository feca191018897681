package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/testbed"
)

// shortCalibration makes the test's own program calibrate with two blocks of a short level, which are too few for a noise floor.
const shortCalibration = "LOADSTONE_TEST_SHORT_CALIBRATION"

func shortenCalibration() {
	if os.Getenv(shortCalibration) == "" {
		return
	}
	for _, change := range [][2]string{{"blocks: 10", "blocks: 2"}, {"    - connections: 100\n", ""}, {"durationSeconds: 3", "durationSeconds: 1"}} {
		samples.AA = bytes.Replace(samples.AA, []byte(change[0]), []byte(change[1]), 1)
	}
}

func TestCalibrationMeasuresBuiltInServer(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	testbed.Programs(t, "wrk")
	t.Setenv(shortCalibration, "1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	results := filepath.Join(dir, "results", "aa")
	out, err := loadstone(ctx, "calibrate", "--out", results).CombinedOutput()
	if got := statusAfter(err); got != statusInconclusive || !bytes.Contains(out, []byte("no noise floor: ")) || !bytes.Contains(out, []byte("\nreport: "+results)) {
		t.Errorf("it ends with status %d: %s", got, out)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	own := m.Plan.Implementations
	if len(own) != 2 || !slices.Equal(own[0].Command, own[1].Command) || len(own[0].Command) != 3 || own[0].Command[1] != builtInServer {
		t.Errorf("it measures %+v", own)
	}
	for _, trial := range m.Trials {
		if trial.Manifest == nil {
			t.Errorf("trial %s was not measured: %s", trial.Name, trial.Message)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "results", "calibrations")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a noise floor, out of two blocks: %v", err)
	}
	leavesNothing(t, dir)
}

func TestCalibrationThatCannotStartEndsForPrograms(t *testing.T) {
	testbed.Programs(t, "wrk")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := execute(t, "calibrate", "--output", "json", "--out", filepath.Join(file, "aa"))
	var end screen.End
	if err == nil || json.Unmarshal([]byte(out), &end) != nil || end.Event != "end" || end.Message != err.Error() {
		t.Errorf("it prints %q and ends with %v", out, err)
	}
}

func TestInterruptedCalibrationMustRestart(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	testbed.Programs(t, "wrk")
	dir := t.TempDir()
	cmd := loadstone(t.Context(), "calibrate", "--output", "json", "--out", filepath.Join(dir, "aa"))
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), "measured on one machine"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not begin: %s", out.String())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := statusAfter(cmd.Wait()); got != statusInterrupted || !strings.Contains(out.String(), "interrupted: run loadstone calibrate again") || !strings.Contains(out.String(), `{"event":"end"`) {
		t.Errorf("it ends with status %d: %s", got, out.String())
	}
	leavesNothing(t, dir)
}

func TestCalibrationExitCodes(t *testing.T) {
	ending := func(report string, state conduct.State, interrupted bool) progress.Ending {
		e := progress.Ending{Report: report, Interrupted: interrupted, Counts: true, Verdict: &conduct.Verdict{Reason: "NoiseTooHigh"}}
		e.State, e.Reason = state, "TrialsFailed"
		return e
	}
	for name, tc := range map[string]struct {
		found  Found
		code   int
		prints string
	}{
		"a noise floor here":             {Found{Ending: ending("page", conduct.Succeeded, false), Line: "noise floor", Floor: true}, 0, "noise floor\nreport: page\n"},
		"a noise floor of a cluster":     {Found{Ending: ending("", conduct.Succeeded, false), Line: "noise floor", Floor: true}, 0, "noise floor\n"},
		"none":                           {Found{Ending: ending("page", conduct.Succeeded, false), Line: "none"}, statusInconclusive, "none\nreport: page\n"},
		"none, since the run has failed": {Found{Ending: ending("page", conduct.Failed, false), Line: "none"}, statusFailed, "none\nreport: page\n"},
		"a folder with controls":         {Found{Ending: ending("\x1b[2Jpage", conduct.Succeeded, false), Line: "noise \u202efloor", Floor: true}, 0, `noise \u202efloor` + "\n" + `report: \x1b[2Jpage` + "\n"},
		"no report":                      {Found{Ending: ending("", conduct.Failed, false)}, statusFailed, ""},
		"interrupted before a block":     {Found{Ending: ending("", conduct.Failed, true)}, statusInterrupted, ""},
		"interrupted with a floor":       {Found{Ending: ending("page", conduct.Succeeded, true), Line: "noise floor", Floor: true}, statusInterrupted, "noise floor\nreport: page\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := endCalibration(screen.NewTeller(&out, false), tc.found)
			code := 0
			if err != nil {
				code = status(err)
			}
			if code != tc.code || out.String() != tc.prints {
				t.Errorf("it ends with %v and prints %q, want %d and %q", err, out.String(), tc.code, tc.prints)
			}
		})
	}
}
