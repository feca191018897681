package report

import (
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/junit"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func bounded(change func(*objectives.Result)) analysis.Table {
	o := objectives.Result{
		Metric: v1alpha1.ObjectiveThroughput, Unit: "requests/s", Implementation: "go", Point: ten, N: 7,
		Min: number(50_000), Value: number(60_000), Low: number(58_000), High: number(62_000), Outcome: objectives.Met,
	}
	change(&o)
	return analysis.Table{Objectives: []objectives.Result{o}}
}

func compared(v verdict.Verdict, why verdict.Reason) analysis.Table {
	r := verdict.Result{
		Metric: verdict.Throughput, Decides: true, Levels: 1, Blocks: 10, FewestPairs: 10, Ratio: number(0.9), Low: number(0.88), High: number(0.92), Verdict: v, Reason: why,
	}
	return analysis.Table{
		Run: analysis.Run{Baseline: "go"},
		Comparisons: []verdict.Comparison{{
			Implementation: "slow", Baseline: "go", Load: "sweep", Verdict: v, Reason: why, Metric: verdict.Throughput, Overall: []verdict.Result{r},
			Levels: []verdict.LevelComparison{{Point: ten, Verdict: v, Reason: why, Metric: verdict.Throughput, Results: []verdict.Result{r}}},
		}},
	}
}

func printed(v verdict.Verdict, optimised bool) analysis.Table {
	r := verdict.Result{Metric: "Time", Decides: true, Blocks: 10, FewestPairs: 10, Ratio: number(0.8), Low: number(0.75), High: number(0.85), Verdict: v}
	return analysis.Table{
		Rows:  []verdict.RowComparison{{Implementation: "new", Baseline: "old", Case: "copy", Unit: "ns", Better: record.LessIsBetter, Result: &r}},
		Cases: []analysis.Case{{Implementation: "new", Case: "copy", Metric: "Time", Unit: "ns", Better: record.LessIsBetter, OptimisedAway: optimised}},
	}
}

func alone() analysis.Table {
	return analysis.Table{
		Implementations: []planned.Implementation{{Name: "go"}},
		Groups:          []validity.Group{{Point: ten, Implementation: "go", Throughput: &inference.Summary{N: 3, Mean: 1000}}},
	}
}

func TestATestPassesFailsOrIsSkippedAsTheOutcomeSays(t *testing.T) {
	const passed, failed, skipped = "passed", "failed", "skipped"
	for name, tc := range map[string]struct {
		of             analysis.Table
		want, at, says string
	}{
		"an objective that is met": {
			bounded(func(*objectives.Result) {}), passed, "throughput of go, sweep-10, ≥ 50,000/s",
			"met: 60,000/s (99 % interval 58,000/s–62,000/s, 7 blocks), the bound is ≥ 50,000/s",
		},
		"an objective that is missed": {
			bounded(func(o *objectives.Result) { o.Name, o.Outcome = "fast", objectives.Missed }), failed, "fast: throughput of go, sweep-10, ≥ 50,000/s",
			"missed: 60,000/s (99 % interval 58,000/s–62,000/s, 7 blocks), the bound is ≥ 50,000/s",
		},
		"an objective that is undecided": {
			bounded(func(o *objectives.Result) { o.Outcome, o.Reason = objectives.Undecided, objectives.IntervalStraddles }), failed,
			"throughput of go, sweep-10, ≥ 50,000/s",
			"undecided: 60,000/s (99 % interval 58,000/s–62,000/s, 7 blocks), the bound is ≥ 50,000/s; the interval contains the bound; an undecided objective does not pass",
		},
		"an objective without a value": {
			bounded(func(o *objectives.Result) {
				o.Outcome, o.Reason, o.Value, o.Low, o.High, o.Detail = objectives.Undecided, objectives.NoEarlierRun, nil, nil, nil, "no such object"
			}), failed, "throughput of go, sweep-10, ≥ 50,000/s",
			"undecided: no value, the bound is ≥ 50,000/s; an earlier run could not be read: no such object; an undecided objective does not pass",
		},
		"an objective on the change since earlier runs": {
			bounded(func(o *objectives.Result) {
				o.Metric, o.Of, o.EarlierN, o.EarlierRuns = v1alpha1.ObjectiveRegression, v1alpha1.ComparedThroughput, 21, 3
				o.Min, o.Value, o.Low, o.High = number(0.95), number(1.01), number(0.98), number(1.04)
			}), passed, "ratio to earlier runs of throughput of go, sweep-10, ≥ −5.0 %",
			"met: +1.0 % (99 % interval −2.0 % to +4.0 %, blocks: 7 now, 21 earlier, 3 earlier runs), the bound is ≥ −5.0 %",
		},
		"a contender that is better": {compared(verdict.Better, ""), passed, "slow against go, sweep", "slow has 10.0 % lower throughput than go (99 % interval −12.0 % to −8.0 %, 10 blocks)"},
		"one that is worse, which no objective forbids": {
			compared(verdict.Worse, ""), passed, "slow against go, sweep", "slow has 10.0 % lower throughput than go (99 % interval −12.0 % to −8.0 %, 10 blocks)",
		},
		"no difference":                  {compared(verdict.NoDifference, ""), passed, "slow against go, sweep", "slow and go are practically equivalent in throughput"},
		"a winner at each of two levels": {compared(verdict.DependsOnLoad, ""), passed, "slow against go, sweep", "Whether slow is better than go depends on the load"},
		"a comparison that is inconclusive": {
			compared(verdict.Inconclusive, verdict.NoiseTooHigh), skipped, "slow against go, sweep", "Inconclusive: slow may or may not differ from go in throughput",
		},
		"a case":                      {printed(verdict.Better, false), passed, "new against old, copy", "better: −20.0 % Time (99 % interval −25.0 % to −15.0 %, 10 blocks)"},
		"a case that is inconclusive": {printed(verdict.Inconclusive, false), skipped, "new against old, copy", "inconclusive: −20.0 % Time"},
		"a case whose work was not done": {
			printed(verdict.Better, true), skipped, "new against old, copy", "better (the work of new was probably optimised away): −20.0 % Time",
		},
		"a run that compares nothing": {alone(), passed, "result", "nothing to compare; go: 1,000 requests/s"},
		"a run that measured nothing": {analysis.Table{}, skipped, "result", "no verdict: 0 of 0 trials were measured"},
	} {
		t.Run(name, func(t *testing.T) {
			c := onlyTest(t, tc.of)
			got, says := passed, c.Said
			switch {
			case c.Failure != nil:
				got, says = failed, c.Failure.Message
			case c.Skipped != nil:
				got, says = skipped, c.Skipped.Message
			}
			if got != tc.want || c.Name != tc.at || !strings.HasPrefix(says, tc.says) {
				t.Errorf("the test %q is %s and says\n%q, want %q, %s and\n%q", c.Name, got, says, tc.at, tc.want, tc.says)
			}
		})
	}
}

func onlyTest(t *testing.T, of analysis.Table) junit.Case {
	t.Helper()
	of.Rules.Confidence, of.Rules.MinBlocks, of.Rules.EquivalenceMargin = 0.99, 7, 0.05
	s := readTests(t, of)
	if len(s.Cases) != 1 {
		t.Fatalf("%d tests: %+v", len(s.Cases), s.Cases)
	}
	return s.Cases[0]
}

func readTests(t *testing.T, of analysis.Table) junit.Suite {
	t.Helper()
	out, err := JUnit(of)
	if err != nil {
		t.Fatal(err)
	}
	got, err := junit.Read(out)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d suites, %v", len(got), err)
	}
	return got[0]
}

func TestOneTestDoesNotHideAnotherOfItsName(t *testing.T) {
	of := bounded(func(*objectives.Result) {})
	missed := of.Objectives[0]
	missed.Outcome = objectives.Missed
	of.Objectives = append(of.Objectives, missed)
	s := readTests(t, of)
	if len(s.Cases) != 2 || s.Cases[1].Name != s.Cases[0].Name+" #2" || s.Failures != 1 {
		t.Errorf("%d failures of %+v", s.Failures, s.Cases)
	}
}

func TestASuiteSaysWhenTheRunBeganAndWhatItTook(t *testing.T) {
	of := alone()
	of.Run.Started = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	of.Run.Ended = of.Run.Started.Add(90 * time.Second)
	if s := readTests(t, of); s.Timestamp != "2026-03-14T09:26:53" || s.Seconds != "90.000" {
		t.Errorf("it began at %s and took %s s", s.Timestamp, s.Seconds)
	}
	if s := readTests(t, alone()); s.Timestamp != "" || s.Seconds != "0.000" {
		t.Errorf("of a run whose time is unknown it began at %q and took %s s", s.Timestamp, s.Seconds)
	}
}
