package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/record"
)

// checkCommandsOnResults uses the results of a run of two blocks on this machine in every command that reads them.
func checkCommandsOnResults(t *testing.T, results, page string) {
	t.Helper()
	for _, name := range []string{results, filepath.Join(results, "manifest.json")} {
		out, err := execute(t, "compare", results, name)
		// Where a block was disturbed and repeated, some values have the three blocks that a comparison asks for.
		shown := err == nil && strings.Contains(out, "undecided: fewer than three earlier runs")
		few := err != nil && status(err) == statusInconclusive && err.Error() == "not comparable: fewer than three blocks have a value"
		if !shown && !few || !strings.Contains(out, "sweep-100") {
			t.Errorf("two blocks compared with themselves print %s and end with %v", out, err)
		}
	}
	if out, err := execute(t, "compare", results, results, "--anchor", "zig"); err == nil || status(err) != statusInconclusive || !strings.Contains(err.Error(), "did not measure zig") {
		t.Errorf("another anchor prints %s and ends with %v", out, err)
	}
	checkPartialRun(t, results)
	for _, flags := range [][]string{nil, {"--again"}} {
		out, err := execute(t, append([]string{"report", results}, flags...)...)
		if err != nil || !strings.HasSuffix(strings.TrimSpace(out), "report.html") || flags == nil && strings.TrimSpace(out) != page {
			t.Errorf("the report of a folder is %s, %v, want %s", out, err, page)
		}
	}
}

// checkPartialRun compares a run with a copy of itself that has lost a trial.
func checkPartialRun(t *testing.T, results string) {
	t.Helper()
	partial := filepath.Join(t.TempDir(), filepath.Base(results))
	if err := os.CopyFS(partial, os.DirFS(results)); err != nil {
		t.Fatal(err)
	}
	trials, err := filepath.Glob(filepath.Join(partial, "trials", "*"))
	if err != nil || len(trials) == 0 {
		t.Fatalf("trials in %s: %v, %v", partial, trials, err)
	}
	if err := os.RemoveAll(trials[0]); err != nil {
		t.Fatal(err)
	}
	out, err := execute(t, "compare", results, partial)
	if err == nil || status(err) != statusInconclusive || !strings.Contains(err.Error(), filepath.Base(trials[0])+" cannot be read") {
		t.Errorf("a run of which a trial is lost is compared: it prints %s and ends with %v", out, err)
	}
}

func TestComparePrintsChanges(t *testing.T) {
	ratio := func(value, low, high float64) objectives.Result {
		return objectives.Result{Point: record.Point{Load: "sweep", Connections: 10}, Implementation: "zco", Value: &value, Low: &low, High: &high, N: 7, EarlierN: 10, WithinRuns: true}
	}
	lost := objectives.Result{Point: record.Point{Load: "sweep", Connections: 10}, Implementation: "zco", Reason: objectives.AnchorDiffers, Detail: "go had 2 CPUs and has 1"}
	r := compare.Result{Anchor: "go", Confidence: 0.99, WithinRuns: true, Changes: []compare.Change{
		{Result: ratio(1.2, 1.1, 1.3), Of: verdict.CPUPerRequest, Known: true},
		{Result: ratio(0.9, 0.85, 0.95), Of: verdict.Throughput, Known: true},
		{Result: ratio(1.01, 0.9, 1.1), Of: verdict.LatencyAt("99"), Known: true},
		{Result: lost, Of: verdict.LatencyAt("50")},
	}}
	var out bytes.Buffer
	if err := screen.Changes(&out, r); err != nil {
		t.Fatal(err)
	}
	want := `IMPLEMENTATION  LEVEL     VALUE                        CHANGE   99 % INTERVAL       BLOCKS    FOUND
zco             sweep-10  server CPU time per request  +20.0 %  +10.0 % to +30.0 %  10 and 7  undecided: fewer than three earlier runs
zco             sweep-10  throughput                   −10.0 %  −15.0 % to −5.0 %   10 and 7  undecided: fewer than three earlier runs
zco             sweep-10  p99 latency                  +1.0 %   −10.0 % to +10.0 %  10 and 7  undecided: fewer than three earlier runs
zco             sweep-10  p50 latency                  -        -                   -         not comparable: the anchor is not the same in all runs: go had 2 CPUs and has 1
Each value is a ratio to go. Each interval holds on its own, without correction for multiple comparisons. The variation between runs is unknown, so no change is shown: name at least three earlier runs to measure it.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("it prints (-want +got):\n%s", diff)
	}
}

func TestComparePrintsCaseNames(t *testing.T) {
	value, low, high := 1.2, 1.1, 1.3
	r := compare.Result{Anchor: "go", Confidence: 0.99, Changes: []compare.Change{
		{Result: objectives.Result{Case: "parse/size:16", Implementation: "zco", Value: &value, Low: &low, High: &high, N: 7, EarlierN: 30}, Of: "Least time", Known: true},
	}}
	var out bytes.Buffer
	if err := screen.Changes(&out, r); err != nil {
		t.Fatal(err)
	}
	want := `IMPLEMENTATION  CASE           VALUE       CHANGE   99 % INTERVAL       BLOCKS    FOUND
zco             parse/size:16  Least time  +20.0 %  +10.0 % to +30.0 %  30 and 7  more
Each value is a ratio to go. Each interval holds on its own, without correction for multiple comparisons.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("it prints (-want +got):\n%s", diff)
	}
}

func TestCompareRefusesMissingRuns(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	renamed := filepath.Join(dir, "renamed")
	if err := os.Mkdir(renamed, 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := `{"schema": "` + record.RunManifestSchema + `", "trials": [{"manifest": {"key": "old/trials/t/manifest.json"}}]}`
	if err := os.WriteFile(filepath.Join(renamed, "manifest.json"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"one run":                   {[]string{"a"}, "name at least one earlier run and the later run"},
		"a folder without a run":    {[]string{dir, dir}, "holds no manifest.json: the run was interrupted, or is none"},
		"a path that leads nowhere": {[]string{"/no/such/run", dir}, "there is no run in /no/such/run"},
		"a folder that was renamed": {[]string{renamed, renamed}, "is not whole, or was renamed"},
		"a name without a cluster":  {[]string{"quick", "quick"}, "quick is neither a results folder nor a run on the cluster: found no cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := execute(t, append([]string{"compare"}, tc.args...)...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("it prints %q and ends with %v, want %q", out, err, tc.want)
			}
		})
	}
}
