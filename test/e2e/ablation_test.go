package e2e

import (
	"slices"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

// Each flag's cost is a ratio to the baseline's build, and the files show how they were built. One block gives no interval.
func TestTheAblationSampleSaysWhatEachFlagCosts(t *testing.T) {
	run := sample(t, "ablation.yaml")
	shortened(run)
	run.Spec.Blocks, run.Spec.Loads[0].WarmupSeconds = 1, new(int32(0))
	_, table := measure(t, run, 10*time.Minute)
	if len(table.Comparisons) != len(run.Spec.Implementations)-1 {
		t.Fatalf("%d builds are compared with the baseline, want %d", len(table.Comparisons), len(run.Spec.Implementations)-1)
	}
	void := table.Coverage.VoidCells
	for _, c := range table.Comparisons {
		for _, r := range c.Overall {
			t.Logf("%s, %s: ratio %v of %d blocks", c.Implementation, r.Metric, value(r.Ratio), r.Blocks)
			if r.Metric == verdict.CPUPerRequest && r.Ratio == nil && void == 0 {
				t.Errorf("%s has no ratio of %s", c.Implementation, r.Metric)
			}
		}
	}
	for name, want := range map[string]record.Truth{"o0": record.No, "o2": record.Yes} {
		if got := built(table, name, builds.Optimized); got != string(want) {
			t.Errorf("%s is optimised: %q, want %q", name, got, want)
		}
	}
	for name, key := range map[string]builds.Key{"coverage": builds.Coverage, "address": builds.Sanitizers, "undefined": builds.Sanitizers} {
		if got, plain := built(table, name, key), built(table, "o2", key); got != string(record.Yes) || plain != string(record.No) {
			t.Errorf("%s of %s is %q, and of the baseline %q", key, name, got, plain)
		}
	}
	checkReport(t, run, table)
}

func built(table analysis.Table, implementation string, key builds.Key) string {
	at := slices.Index(table.Builds.Implementations, implementation)
	for _, f := range table.Builds.Facts {
		if f.Key == key && at >= 0 {
			return f.Values[at].Value
		}
	}
	return ""
}
