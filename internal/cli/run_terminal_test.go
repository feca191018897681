package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen/screentest"
)

// oneLevel reduces the comparison to one cell per trial.
var oneLevel = []string{", {connections: 8}]", "]", "blocks: 2", "blocks: 1"}

// oneCell is oneLevel without a warm-up, for who does not look on.
var oneCell = append(slices.Clip(oneLevel), "warmupSeconds: 1", "warmupSeconds: 0")

func TestTerminalShowsBlocksCellsAndLatencies(t *testing.T) {
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	terminal, page, done := screentest.Open(t, 160)
	cmd := loadstone(ctx, "run", comparison(t, dir, oneLevel...), "--out", filepath.Join(dir, "results"))
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdout = terminal
	var errors bytes.Buffer
	cmd.Stderr = &errors
	err := cmd.Run()
	done()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, errors.String())
	}
	for name, texts := range map[string][]string{
		"the block and the cell of the first implementation":  {"block 1/1", "plain", "sweep-2", " cells", " left"},
		"the block and the cell of the second implementation": {"block 1/1", "costly", "sweep-2", " cells", " left"},
		"the throughput of a cell in the live view":           {"  sweep-2 ", " requests/s"},
		"the throughput of a trial":                           {"block 1/1", "sweep-2 ", " requests/s", " left"},
	} {
		if !page.Seen(texts...) {
			t.Errorf("it never shows %s: %q", name, page.Lines())
		}
	}
	if !page.Seen(" requests/s p99 ") && !fewSamples(page) {
		t.Errorf("it never shows a latency: %q", page.Lines())
	}
	for _, line := range page.Lines() {
		if bytes.Contains([]byte(line), []byte(" cells  ")) {
			t.Errorf("the live view is left: %q", line)
		}
	}
}

// samplesOfP99 is slightly more than a 99th percentile needs. A busy machine may answer fewer within a cell's second.
const samplesOfP99 = 1100

// fewSamples reports whether every throughput that is shown is too low for a percentile to be known.
func fewSamples(page *screentest.Page) bool {
	for _, line := range page.Lines() {
		for _, found := range regexp.MustCompile(`sweep-2 ([\d,]+) requests/s`).FindAllStringSubmatch(line, -1) {
			if rate, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", "")); err != nil || rate > samplesOfP99 {
				return false
			}
		}
	}
	return true
}

func TestRunPrintsJSONEvents(t *testing.T) {
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := loadstone(ctx, "run", "--output", "json", comparison(t, dir, oneCell...), "--out", filepath.Join(dir, "results")).Output()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	seen := map[string]int{}
	var last struct {
		Event, Report string
		Results       []struct {
			Value, P99Micros float64
			Failed           string
		}
	}
	for line := range bytes.Lines(out) {
		last.Results = nil
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		seen[last.Event]++
		for _, r := range last.Results {
			if r.Failed != "" {
				continue // A busy machine may delay the generator too much.
			}
			if r.Value <= 0 || r.P99Micros <= 0 && r.Value > samplesOfP99 {
				t.Errorf("a value is missing: %s", line)
			}
		}
	}
	if seen["note"] == 0 || seen["progress"] == 0 || seen["trial"] < 2 || last.Event != "end" || last.Report == "" {
		t.Errorf("it tells %v and ends with %+v", seen, last)
	}
}

func TestRefusedRunPrintsJSONEndEvent(t *testing.T) {
	for name, tc := range map[string]struct{ old, instead, want string }{
		"by the schema":  {"port: 8080", "port: 0", "spec.implementations[0].port: 0 is too small"},
		"by the machine": {"./plain", "./nothing", "implementations[plain].command: there is no program"},
	} {
		t.Run(name, func(t *testing.T) {
			file := written(t, "run.yaml", tc.old, tc.instead)
			out, err := execute(t, "run", file, "--output", "json", "--out", filepath.Join(t.TempDir(), "results"))
			var end struct{ Event, Reason, Message string }
			if errRead := json.Unmarshal([]byte(out), &end); errRead != nil || status(err) != statusBadInput {
				t.Fatalf("it prints %q, %v, and ends with %v", out, errRead, err)
			}
			if end.Event != "end" || end.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(end.Message, tc.want) {
				t.Errorf("it tells %+v, want %q", end, tc.want)
			}
		})
	}
}

func TestRunFileFromStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"run", "-"}, {"run", "-", "--cluster"}} {
		_, err := executeOn(t, strings.NewReader(strings.Replace(sound, "port: 8080", "port: 0", 1)), args...)
		if err == nil || !strings.HasPrefix(said(err), "stdin:6: spec.implementations[0].port: 0 is too small") {
			t.Errorf("%q ends with %v", args, err)
		}
	}
}
