package e2e

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/stats"
)

// At an imposed rate nobody is compared by the throughput that was asked for: the busy server needs more CPU time per request, the overloaded one
// does not keep the rate, and the gate on the latency stays shut.
func TestAtAnImposedRateTheReportSaysWhoNeedsMore(t *testing.T) {
	run := sample(t, "rate.yaml")
	mustApply(t, run)
	await(t, run, 15*time.Minute, "ended", ended)
	data := load(t, run)
	table := analyse(t, data)
	t.Log(run.Status.Verdict)
	decidable := whole(t, data, table) >= stats.MinBlocks
	for _, c := range table.Comparisons {
		d := c.Deciding()
		t.Logf("%s under %s: %s %s by %s, %d pairs", c.Implementation, c.Load, c.Verdict, c.Reason, c.Metric, d.FewestPairs)
		if c.Verdict == stats.Better || c.Verdict == stats.NoDifference || c.Metric == stats.Throughput {
			t.Errorf("%s under %s is %s by %s", c.Implementation, c.Load, c.Verdict, c.Metric)
		}
		if !decidable {
			continue
		}
		switch {
		case c.Implementation == "busy" && (c.Verdict != stats.Worse || d.Metric != stats.CPUPerRequest || *d.Ratio < 2):
			t.Errorf("busy under %s is %s with %v of the CPU time, want Worse with a multiple", c.Load, c.Verdict, *d.Ratio)
		case c.Implementation == "overloaded" && (c.Verdict != stats.Worse || c.Reason != stats.RateNotKept):
			t.Errorf("overloaded under %s is %s %s, want Worse since it does not keep the rate: %+v", c.Load, c.Verdict, c.Reason, c.Levels[0].Rate)
		}
	}
	if met, reason := table.ObjectivesMet(); met || decidable && reason != v1alpha1.ReasonObjectivesMissed {
		t.Errorf("the objectives are met: %v, %s", met, reason)
	}
	checkReport(t, run, table)
}
