package plan

import (
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
	against := func(p Plan, runs ...string) Plan {
		for _, of := range []string{"a", "b"} {
			p.Objectives = append(p.Objectives, record.Objective{Implementations: []string{of}, Against: &record.Reference{Runs: runs}})
		}
		return p
	}
	for name, tc := range map[string]struct {
		plan   Plan
		memory int64
		want   string
	}{
		"a run of ten blocks":                              {large(10, 1), chart, ""},
		"a run of eighty blocks":                           {large(80, 1), chart, ""},
		"a run of as many blocks as there may be":          {large(100, 1), chart, "the report of 400 trials of 6400 cells altogether, repeat blocks among them, takes about 218Mi of the operator's memory, which has 200Mi: "},
		"the same, loaded by sixteen generators":           {large(100, 16), chart, "the report of 400 trials of 6400 cells altogether, repeat blocks among them, takes about 905Mi of the operator's memory, which has 200Mi: "},
		"the same, where nothing bounds its memory":        {large(100, 16), 0, ""},
		"the same, where the operator's memory was raised": {large(100, 16), 1 << 30, ""},
		"a single block, of which two may be repeated":     {large(1, 1), 61 << 20, "the report of 6 trials of 96 cells altogether, repeat blocks among them, takes about 62Mi of the operator's memory, which has 61Mi: "},
		"a run that is compared with two others, twice":    {against(large(40, 1), "x", "y"), chart, ""},
		"a run that is compared with five others":          {against(large(40, 1), "v", "w", "x", "y", "z"), chart, "the report of 160 trials of 2560 cells altogether, repeat blocks among them, beside 5 earlier runs of 1280 cells each, takes about 282Mi of the operator's memory, which has 200Mi: compare with fewer earlier runs, "},
	} {
		got := ""
		if v := Reportable(tc.plan, tc.memory); v != nil {
			got = v.Message
		}
		if !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
