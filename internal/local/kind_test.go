package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kindtest"
)

// Only its own folder knows this kind of work. A second kind follows the blocks.
func TestAKindOfWorkThatNothingKnowsIsLedFromItsSpecToItsReport(t *testing.T) {
	kindtest.Know(t)
	dir := t.TempDir()
	reexectest.Write(t, filepath.Join(dir, "bench"), `#!/bin/sh
for nanos in $(( 2 * $1 )) $1 $(( 3 * $1 )); do
  printf '{"schema":"loadstone.case/v1","case":"parse","metric":"Time","unit":"ns","better":"Less","value":%d}\n' "$nanos"
done
`, 0o700)
	object := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "old", Command: []string{"./bench", "100"}}, {Name: "new", Command: []string{"./bench", "150"}}},
		Baseline:        "old", Blocks: 2, Seed: kindtest.FollowedSeed, Placement: v1alpha1.Placement{Pinning: v1alpha1.Preferred},
	}}
	object.Name = "timed"
	var told []string
	r, err := New(t.Context(), Options{Run: object, Folder: dir, Out: filepath.Join(dir, "results"), Version: "v0.0.0-test", Tell: func(e progress.Event) {
		for _, found := range e.Results {
			told = append(told, found.Name)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ending, err := r.Lead(t.Context())
	// Two blocks give no verdict.
	if err != nil || ending.State != conduct.Succeeded {
		t.Fatalf("it ends with %+v, %v", ending, err)
	}
	d, err := r.folder.Load(t.Context(), r.prefix, "")
	if err != nil || len(d.Trials) != len(d.Manifest.Trials) || len(d.Trials) < 4 {
		t.Fatalf("%d of %d trials are read back: %v", len(d.Trials), len(d.Manifest.Trials), err)
	}
	for _, one := range d.Trials {
		want := map[string]float64{"old": 100, "new": 150}[one.Manifest.Servers[0]]
		if len(one.Rows) != 1 || one.Rows[0].Value != want || one.Manifest.Type != kindtest.Type {
			t.Errorf("%s, a trial of %s, has the rows %+v, want %v", one.Manifest.Name, one.Manifest.Type, one.Rows, want)
		}
	}
	for i, name := range []string{"old", "new"} {
		if len(d.Following) != 2 || d.Following[i].Manifest.Item != name || d.Following[i].Manifest.Type != kindtest.AfterwardsType || len(d.Following[i].Rows) != 1 {
			t.Fatalf("what follows the blocks has left %+v", d.Following)
		}
	}
	table, err := analysis.Analyse(d)
	if err != nil || len(table.Rows) != 1 || table.Rows[0].Verdict != verdict.Inconclusive {
		t.Fatalf("it is compared as %+v, %v", table.Rows, err)
	}
	if ratio := table.Rows[0].Ratio; ratio == nil || *ratio != 1.5 {
		t.Errorf("the ratio is %v, want 1.5", ratio)
	}
	if !slices.Contains(told, "parse Least time") {
		t.Errorf("people are told of %q only", told)
	}
	for i, want := range []float64{100, 150} {
		if f := table.Followed; len(f) != 2 || f[i].Type != kindtest.AfterwardsType || f[i].Implementation != f[i].Item || len(f[i].Rows) != 1 || f[i].Rows[0].Value != want {
			t.Errorf("what follows the blocks is %+v, want a row of %v", f, want)
		}
	}
	page, err := os.ReadFile(ending.Report)
	if err != nil || !strings.Contains(string(page), "Least time (ns, less is better)") {
		t.Errorf("the report does not show what was printed: %v", err)
	}
	_, section, _ := strings.Cut(string(page), `<section id="`+kindtest.SectionID+`">`)
	section, _, _ = strings.Cut(section, "</section>")
	if !strings.Contains(section, "100 ns") || !strings.Contains(section, "150 ns") {
		t.Errorf("the kind's section of the report is %q", section)
	}
}
