package e2e

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/analysis/verdict"
)

// At an imposed rate, steady or rising, throughput is not compared. The busy server needs more CPU time per request, the overloaded one does not
// sustain the rate, and the latency objective is not met.
func TestAtAnImposedRateTheReportSaysWhoNeedsMore(t *testing.T) {
	run := sample(t, "rate.yaml")
	shortened(run)
	// Duets and searches test warm-ups.
	for i := range run.Spec.Loads {
		run.Spec.Loads[i].WarmupSeconds = new(int32(0))
	}
	mustApply(t, run)
	await(t, run, 15*time.Minute, "ended", ended)
	data := load(t, run)
	table := analyse(t, data)
	t.Log(run.Status.Verdict)
	decidable := whole(t, data, table) >= verdict.MinBlocks
	for _, c := range table.Comparisons {
		d := c.Deciding()
		t.Logf("%s under %s: %s %s by %s, %d pairs", c.Implementation, c.Load, c.Verdict, c.Reason, c.Metric, d.FewestPairs)
		if c.Verdict == verdict.Better || c.Verdict == verdict.NoDifference || c.Metric == verdict.Throughput {
			t.Errorf("%s under %s is %s by %s", c.Implementation, c.Load, c.Verdict, c.Metric)
		}
		if !decidable {
			continue
		}
		switch {
		case c.Implementation == "busy" && (c.Verdict != verdict.Worse || d.Metric != verdict.CPUPerRequest || d.Ratio != nil && *d.Ratio < 1.5):
			t.Errorf("busy under %s is %s %s, want Worse with far more CPU time: %+v", c.Load, c.Verdict, c.Reason, d)
		case c.Implementation == "overloaded" && (c.Verdict != verdict.Worse || c.Reason != verdict.RateNotSustained):
			t.Errorf("overloaded under %s is %s %s, want Worse since it does not keep the rate: %+v", c.Load, c.Verdict, c.Reason, c.Levels[0].Rate)
		}
	}
	if met, reason := table.ObjectivesMet(); met {
		t.Errorf("the gate on the busy server's latency is open: %s", reason)
	}
	for _, o := range table.Objectives {
		t.Logf("%s: %s %s", o.Name, o.Outcome, o.Reason)
	}
	checkReport(t, run, table)
}
