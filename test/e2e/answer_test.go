package e2e

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/stats"
)

// The known answer: a cost of two thirds or more, planted in one of three otherwise equal servers, is found and is of that size;
// between the two equal ones no difference is claimed. The run may stop after ten of its twelve blocks, and does.
func TestAPlantedCostIsFoundAndEqualServersAreNotTornApart(t *testing.T) {
	body, warm := "helloworld", int32(1)
	server := func(name string, args ...string) v1alpha1.Implementation {
		return v1alpha1.Implementation{Name: name, Image: image("gohttp"), Port: 8080, Command: append([]string{"/usr/local/bin/gohttp", "--port=8080"}, args...)}
	}
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: "known-answer", Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{server("plain"), server("same"), server("slow", "--burn="+burn)},
			Baseline:        "plain",
			Loads: []v1alpha1.Load{{
				Name: "steady", Tool: v1alpha1.ToolWrk, WarmupSeconds: &warm, DurationSeconds: 2,
				Request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: &body}},
				Levels:  []v1alpha1.Level{{Connections: 50}},
			}},
			Blocks: 12, Stop: &v1alpha1.Stop{MaxWidth: "0.9"},
		},
	}
	_, table := decidable(t, run, 15*time.Minute)
	early := slices.DeleteFunc(table.SpoiledBlocks(), func(block int32) bool { return block > 10 })
	if run.Status.StoppedAfterBlock != 10 && 10-len(early) >= stats.MinBlocks {
		t.Errorf("the run stopped after block %d, want 10: its intervals are far narrower than spec.stop.maxWidth", run.Status.StoppedAfterBlock)
	}
	found := map[string]stats.Comparison{}
	for _, c := range table.Comparisons {
		found[c.Implementation] = c
	}
	slow, same := found["slow"], found["same"]
	t.Logf("%s; server CPU time per request: slow %.3f, same %.3f times the baseline's", run.Status.Verdict, cpuRatio(t, slow), cpuRatio(t, same))
	checkCost(t, table, slow)
	if same.Verdict == stats.Slower || same.Verdict == stats.Faster {
		t.Errorf("same: %s, CPU time per request %.3f times the baseline's; it is the baseline's own image and command", same.Verdict, cpuRatio(t, same))
	}
}

func cpuRatio(t *testing.T, c stats.Comparison) float64 {
	t.Helper()
	for _, r := range c.Overall {
		if r.Metric == stats.CPUPerRequest && r.Ratio != nil {
			return *r.Ratio
		}
	}
	t.Fatalf("no ratio of CPU time per request in %+v", c)
	return 0
}

const (
	// burn is planted work in iterations, and burnMicros about how long it takes at 2.6 GHz (BenchmarkBurn of workloads/gohttp): two
	// thirds of what a request costs gohttp where system calls are slow, and more where they are fast.
	burn       = "7800"
	burnMicros = 15.2
)

// checkCost wants a server with the planted work to be slower, by about what was planted on top of what the baseline costs here.
func checkCost(t *testing.T, table stats.Table, c stats.Comparison) {
	t.Helper()
	var base float64
	for _, g := range table.Groups {
		if g.Implementation == c.Baseline && g.CPUPerRequest != nil {
			base = g.CPUPerRequest.Mean
		}
	}
	if base == 0 {
		t.Fatalf("the baseline %s has no CPU time per request", c.Baseline)
	}
	planted := burnMicros / base
	if found := cpuRatio(t, c) - 1; c.Verdict != stats.Slower || found < planted/2 || found > planted*1.6 {
		t.Errorf("%s: %s (%s), %.1f %% more CPU time per request; planted was about %.1f %%", c.Implementation, c.Verdict, c.Reason, 100*found, 100*planted)
	}
}
