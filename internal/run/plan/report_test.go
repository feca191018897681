package plan

import (
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

func TestARunWhoseReportDoesNotFitIntoTheOperatorIsRefused(t *testing.T) {
	const chart = 200 << 20 // the default of the chart value operator.goMemoryLimit
	large := func(blocks, pods int32) Plan {
		return compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) {
			s.Blocks, s.Loads[0].Generators.Pods = blocks, pods
			s.Loads[0].Levels = nil
			for i := range int32(16) {
				s.Loads[0].Levels = append(s.Loads[0].Levels, v1alpha1.Level{Connections: 16 * (i + 1)})
			}
		}))
	}
	smoke := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks, s.Loads[0].Levels = 1, []v1alpha1.Level{{Connections: 16}}
	}))
	earlier := func(runs, cells, generators int) []Stored {
		return slices.Repeat([]Stored{{Cells: cells, Generators: generators}}, runs)
	}
	for name, tc := range map[string]struct {
		plan    Plan
		earlier []Stored
		memory  int64
		want    string
	}{
		"a run of ten blocks":                                   {large(10, 1), nil, chart, ""},
		"a run of eighty blocks":                                {large(80, 1), nil, chart, ""},
		"a run of as many blocks as there may be":               {large(100, 1), nil, chart, ""},
		"the same, loaded by four generators":                   {large(100, 4), nil, chart, "the report of 400 trials of 6400 cells altogether, repeat blocks among them, takes about 313Mi of the operator's memory, which has 200Mi: "},
		"the same, loaded by sixteen generators":                {large(100, 16), nil, chart, "the report of 400 trials of 6400 cells altogether, repeat blocks among them, takes about 972Mi of the operator's memory, which has 200Mi: "},
		"the same, where nothing bounds its memory":             {large(100, 16), nil, 0, ""},
		"the same, where the operator's memory was raised":      {large(100, 16), nil, 1 << 30, ""},
		"a single block, of which two may be repeated":          {large(1, 1), nil, 60 << 20, "the report of 6 trials of 96 cells altogether, repeat blocks among them, takes about 61Mi of the operator's memory, which has 60Mi: "},
		"a run that is compared with two others":                {large(40, 1), earlier(2, 1280, 1), chart, ""},
		"a run that is compared with eight others":              {large(40, 1), earlier(8, 1280, 1), chart, "the report of 160 trials of 2560 cells altogether, repeat blocks among them, and of 8 earlier runs of 10240 cells altogether, takes about 237Mi of the operator's memory, which has 200Mi: compare with fewer or smaller earlier runs, "},
		"a small run that is compared with twenty small ones":   {smoke, earlier(20, 4, 1), chart, ""},
		"a small run that is compared with twenty large ones":   {smoke, earlier(20, 5000, 1), chart, "the report of 6 trials of 6 cells altogether, repeat blocks among them, and of 20 earlier runs of 100000 cells altogether, takes about 1442Mi of the operator's memory, which has 200Mi: "},
		"a run that is compared with one by sixteen generators": {smoke, earlier(1, 1280, 16), chart, "the report of 6 trials of 6 cells altogether, repeat blocks among them, and of 1 earlier runs of 1280 cells altogether, takes about 242Mi of the operator's memory, which has 200Mi: "},
	} {
		got := ""
		if v := Reportable(tc.plan, tc.earlier, tc.memory); v != nil {
			got = v.Message
		}
		if !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestAStoredRunIsAsLargeAsItsManifestSays(t *testing.T) {
	p := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks, s.Loads[0].Generators.Pods = 3, 2
		s.Loads[0].Levels = []v1alpha1.Level{{Connections: 16}, {Connections: 32}}
	}))
	m := record.RunManifest{Plan: p.Plan, Trials: []record.TrialEntry{
		{PlannedTrial: p.Trials[0], Manifest: &record.Artifact{}},
		{PlannedTrial: p.Trials[1], Manifest: &record.Artifact{}},
		{PlannedTrial: p.Trials[2]},
		{PlannedTrial: record.PlannedTrial{Type: "of a later version"}, Manifest: &record.Artifact{}},
	}}
	if got, want := StoredOf(m), (Stored{Cells: 4, Generators: 2}); got != want {
		t.Errorf("two stored trials of two cells are %+v, want %+v", got, want)
	}
}
