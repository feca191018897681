package e2e

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

// One of two equal servers has a planted cost of at least two thirds. It is found with its size, and the run stops after ten of its twelve blocks.
// Two ab make the load together. The quick sample tests wrk's verdict, and the sample with a rate tests k6's. The A/A sample and unplanted cases test
// that equal servers are not told apart.
func TestAPlantedCostIsFoundInTenOfTwelveBlocks(t *testing.T) {
	body := "helloworld"
	server := func(name string, args ...string) v1alpha1.Implementation {
		return v1alpha1.Implementation{Name: name, Image: image("gohttp"), Port: 8080, Command: append([]string{"/usr/local/bin/gohttp", "--port=8080"}, args...)}
	}
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: "known-answer", Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{server("plain"), server("slow", "--burn="+burn)},
			Baseline:        "plain",
			Loads: []v1alpha1.Load{{
				Name: "steady", Tool: v1alpha1.ToolAb, WarmupSeconds: new(int32(0)), DurationSeconds: 1,
				Request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: &body}}, Generators: v1alpha1.Generators{Pods: 2},
				Levels: []v1alpha1.Level{{Connections: 20}},
			}},
			Blocks: 12, Stop: v1alpha1.Stop{MaxWidth: "0.9"}, Placement: v1alpha1.Placement{GeneratorPinning: v1alpha1.Preferred},
		},
	}
	data, table := measure(t, run, 15*time.Minute)
	if stopped, narrow := run.Status.Interim.StoppedAfterBlock == 10, analyse(t, firstBlocks(data, 10)).NarrowerThan(0.9); stopped != narrow {
		t.Errorf("the run stopped after block 10: %v; its intervals were narrow enough for that: %v", stopped, narrow)
	}
	t.Log(run.Status.Verdict)
	if len(table.Comparisons) != 1 {
		t.Fatalf("%d comparisons, want that of the slow server", len(table.Comparisons))
	}
	checkCost(t, table, table.Comparisons[0], whole(t, data, table) >= verdict.MinBlocks)
}

// firstBlocks returns what a run had measured at an interim analysis.
func firstBlocks(data record.RunData, blocks int32) record.RunData {
	data.Manifest.Blocks, data.Manifest.RepeatBlocks = blocks, 0
	data.Manifest.Trials = slices.DeleteFunc(slices.Clone(data.Manifest.Trials), func(e record.TrialEntry) bool { return e.Block > blocks })
	data.Trials = slices.DeleteFunc(slices.Clone(data.Trials), func(trial record.TrialData) bool { return trial.Manifest.Block > blocks })
	return data
}

const (
	// burn is planted work in iterations, and burnMicros its approximate time at 2.6 GHz (BenchmarkBurn of workloads/gohttp). It is two thirds of
	// gohttp's cost per request where system calls are slow, and more where they are fast.
	burn       = "7800"
	burnMicros = 15.2
)

// checkCost expects the server with planted work to be slower by about that work, if the data can decide.
func checkCost(t *testing.T, table analysis.Table, c verdict.Comparison, decidable bool) {
	t.Helper()
	if !decidable {
		if c.Verdict == verdict.Better {
			t.Errorf("%s is faster with a planted cost: %+v", c.Implementation, c.Deciding())
		}
		return
	}
	var base float64
	for _, g := range table.Groups {
		if g.Implementation == c.Baseline && g.CPUPerRequest != nil {
			base = g.CPUPerRequest.Mean
		}
	}
	if base == 0 {
		t.Fatalf("the baseline %s has no CPU time per request", c.Baseline)
	}
	planted, found := 100*burnMicros/base, 100*(cpuRatio(t, c)-1)
	t.Logf("%s: %.1f %% more CPU time per request; planted was about %.1f %%", c.Implementation, found, planted)
	if seen := c.Deciding().Detectable; c.Verdict == verdict.Inconclusive && seen != nil && *seen > planted/100 {
		t.Logf("%s: the machine was so noisy that nothing below %.1f %% could have been seen", c.Implementation, 100**seen)
		return
	}
	// On a shared core, the planted work takes up to twice as long.
	if c.Verdict != verdict.Worse || found < planted/2 || found > planted*2.2 {
		t.Errorf("%s is %s (%s), want Slower by about what was planted: %+v", c.Implementation, c.Verdict, c.Reason, c.Deciding())
	}
}

func cpuRatio(t *testing.T, c verdict.Comparison) float64 {
	t.Helper()
	for _, r := range c.Overall {
		if r.Metric == verdict.CPUPerRequest && r.Ratio != nil {
			return *r.Ratio
		}
	}
	t.Fatalf("no ratio of CPU time per request in %+v", c)
	return 0
}
