package rounds

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/report/junit"
)

var update = flag.Bool("update", false, "accept what is printed")

var noon = metav1.NewTime(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))

func later(d time.Duration) *metav1.Time {
	t := metav1.NewTime(noon.Add(d))
	return &t
}

// perf is a suite whose gate uses change points.
func perf() *v1alpha1.BenchmarkSuite {
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f3f11-0000-4000-8000-000000000001"}}
	s.Spec.Gate.ChangePoints.WithinRounds = 5
	return s
}

// run is one of four runs of round 12, with this Succeeded condition.
func run(index int, name string, succeeded metav1.ConditionStatus, reason, message string) v1alpha1.BenchmarkRun {
	r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Namespace: "perf", Name: fmt.Sprintf("checkout-4f1c2d3e-%02d", index), Labels: map[string]string{v1alpha1.LabelRound: "12"},
		Annotations: map[string]string{v1alpha1.AnnotationRound: fmt.Sprintf(`{"id": "4f1c", "run": %q, "runs": 4}`, name)},
	}}
	r.Spec.Implementations = []v1alpha1.Implementation{
		{Name: "candidate", Image: "registry.example/checkout:1a2b3c4@sha256:" + strings.Repeat("1", 64), Port: 8080},
		{Name: "anchor", Image: "registry.example/anchor@sha256:" + strings.Repeat("2", 64), Port: 8080},
	}
	r.Status.StartTime, r.Status.CompletionTime = &noon, later(20*time.Minute)
	r.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: reason, Message: message},
		{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone},
	}
	return r
}

func reported(r v1alpha1.BenchmarkRun, verdict string) v1alpha1.BenchmarkRun {
	r.Status.Verdict = verdict
	r.Status.Report = v1alpha1.ReportRef{URI: "s3://bench/perf/" + r.Name + "/reports/1/report.html", SHA256: strings.Repeat("a", 64)}
	return r
}

// gated are the tests of a report with objectives, compared without.
func gated(t *testing.T) []byte {
	t.Helper()
	s := junit.Suite{Name: "perf/checkout-4f1c2d3e-00", Said: "Every block, latency, artifact and check is on the page report.html beside this file.", Cases: []junit.Case{
		{Name: "ratio to anchor of throughput of candidate, sweep, ≥ 0.95", Failure: junit.Because("Missed", "missed: 0.81 (99 % interval 0.79–0.83, 10 blocks), the bound is ≥ 0.95")},
		{Name: "ratio to earlier runs of throughput of candidate, sweep, ≥ −5.0 %", Said: "met: +1.0 %"},
	}}
	s.Last(noon.Time, noon.Add(20*time.Minute))
	s.Close("loadstone.checkout-4f1c2d3e-00")
	out, err := junit.Print(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compared(t *testing.T) []byte {
	t.Helper()
	table, err := analysis.Analyse(recordtest.Round(3, 1.2))
	if err != nil {
		t.Fatal(err)
	}
	out, err := report.JUnit(table)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// missed is a round of four runs: one missed an objective, one failed with a partial report, one was refused before
// its turn, and one is gone.
func missed(t *testing.T) Round {
	t.Helper()
	line := v1alpha1.SuiteRound{
		Round: 12, Trigger: v1alpha1.TriggerWebhook, Inputs: strings.Repeat("9", 64), Outcome: v1alpha1.RoundMissed, Reason: v1alpha1.ReasonObjectivesMissed,
		Message:    "small: throughput 0.81 of anchor's, at least 0.95 wanted",
		Parameters: []v1alpha1.ParameterValue{{Name: "commit", Value: "1a2b3c4"}, {Name: "image", Value: "registry.example/checkout:1a2b3c4"}},
		Noted:      []v1alpha1.ParameterValue{{Name: "commit", Value: "1a2b3c4"}}, StartTime: &noon, CompletionTime: later(41 * time.Minute),
	}
	refused := run(2, "wide", metav1.ConditionFalse, v1alpha1.ReasonNotEnoughCPUs, "no node has 9 CPUs")
	refused.Status.StartTime = nil
	r := Of(perf(), []v1alpha1.BenchmarkRun{
		refused,
		reported(run(1, "large", metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "2 of 8 trials failed"), "go-slow is slower than go"),
		reported(run(0, "small", metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "1 of 2 missed"), "candidate is slower than anchor"),
	}, line)
	r.Runs[0].Tests, r.Runs[0].Page = gated(t), []byte("| objective | outcome |\n| --- | --- |\n| throughput | missed |\n")
	r.Runs[1].Tests, r.Runs[1].Lacks = compared(t), "report.md cannot be read: there is no such object"
	r.Runs[2].Lacks = "it ended without a report"
	return r
}

func TestARoundAsAPipelineShowsIt(t *testing.T) {
	files, err := missed(t).Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		golden := filepath.Join("testdata", "missed-"+f.Name)
		if *update {
			if err := os.WriteFile(golden, f.Body, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(f.Body)); diff != "" {
			t.Errorf("%s (-want +got; -update accepts it):\n%s", golden, diff)
		}
	}
}

// cases are a round's tests by suite and name, with ending and text.
func cases(t *testing.T, r Round) map[string]string {
	t.Helper()
	body, err := r.tests()
	if err != nil {
		t.Fatal(err)
	}
	suites, err := junit.Read(body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range suites {
		for _, c := range s.Cases {
			text := "passed: " + c.Said
			for how, cause := range map[string]*junit.Cause{"failed": c.Failure, "error": c.Error, "skipped": c.Skipped} {
				if cause != nil {
					text = how + ": " + strings.TrimPrefix(cause.Type+": ", ": ") + cause.Message
				}
			}
			got[strings.TrimPrefix(s.Name, "perf/checkout")+":"+c.Name] = text
		}
	}
	return got
}

func TestRoundOutcomeIsTest(t *testing.T) {
	good := reported(run(0, "small", metav1.ConditionTrue, v1alpha1.ReasonDone, ""), "candidate is faster than anchor")
	open := good
	open.Status.CompletionTime = nil
	for name, tc := range map[string]struct {
		line     v1alpha1.SuiteRound
		run      *v1alpha1.BenchmarkRun
		tests    string
		lacks    string
		at, want string
	}{
		"it passed": {v1alpha1.SuiteRound{Outcome: v1alpha1.RoundPassed, Message: "small: faster"}, &good, "", "", ":outcome", "passed: round 12: passed: small: faster"},
		"it missed": {v1alpha1.SuiteRound{Outcome: v1alpha1.RoundMissed, Reason: "ObjectivesMissed"}, &good, "", "", ":outcome", "failed: ObjectivesMissed: round 12: missed"},
		"an objective is undecided": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundInconclusive, Reason: v1alpha1.ReasonObjectivesUndecided},
			&good, "", "", ":outcome",
			"failed: ObjectivesUndecided: round 12: inconclusive",
		},
		"a comparison has no verdict": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundInconclusive, Reason: v1alpha1.ReasonNoiseTooHigh}, &good, "", "", ":outcome", "skipped: round 12: inconclusive",
		},
		"it failed":       {v1alpha1.SuiteRound{Outcome: v1alpha1.RoundFailed, Reason: "NotEnoughCPUs"}, &good, "", "", ":outcome", "error: NotEnoughCPUs: round 12: failed"},
		"it was replaced": {v1alpha1.SuiteRound{Outcome: v1alpha1.RoundReplaced}, &good, "", "", ":outcome", "error: Replaced: round 12: replaced"},
		"none of its runs is left": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundPassed},
			nil, "", "", ":runs",
			"error: Missing: all its runs were deleted from the cluster, and their results are missing",
		},
		"two of its runs are gone": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundPassed},
			&good, "", "", ":runs",
			"error: Missing: the cluster has 1 of its 4 runs; the results of the others are missing",
		},
		"a run has not ended": {v1alpha1.SuiteRound{Outcome: v1alpha1.RoundReplaced}, &open, "", "", "/small:run", "error: Unfinished: the run has not ended"},
		"a run has no report": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundPassed},
			&good, "", "it ended without a report", "/small:run",
			"error: Missing: the tests of the run are missing: it ended without a report",
		},
		"the tests of a run are no XML": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundPassed}, &good, "<p>", "", "/small:run", "error: Missing: the tests of the run are missing: its tests cannot be read: ",
		},
		"the tests of a run are several suites": {
			v1alpha1.SuiteRound{Outcome: v1alpha1.RoundPassed},
			&good, "<testsuites></testsuites>", "", "/small:run",
			"error: Missing: the tests of the run are missing: its list of tests has 0 suites instead of one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.line.Round = 12
			var runs []v1alpha1.BenchmarkRun
			if tc.run != nil {
				runs = append(runs, *tc.run)
			}
			r := Of(perf(), runs, tc.line)
			if len(r.Runs) > 0 && tc.tests != "" {
				r.Runs[0].Tests = []byte(tc.tests)
			}
			if len(r.Runs) > 0 {
				r.Runs[0].Lacks = tc.lacks
			}
			if got := cases(t, r)[tc.at]; !strings.HasPrefix(got, tc.want) {
				t.Errorf("the test %s is %q, want %q", tc.at, got, tc.want)
			}
		})
	}
}

func TestGateChangePointsAreTest(t *testing.T) {
	read := func(c v1alpha1.RoundChangePoints) v1alpha1.RoundChangePoints {
		c.StartTime, c.CompletionTime = &noon, &noon
		return c
	}
	worse := []v1alpha1.WorseValue{{Round: 9, Rounds: 4, Message: "small: throughput: round 9: −12.0 %"}, {Round: 3, Rounds: 10, Message: "large: throughput"}}
	for name, tc := range map[string]struct {
		found   v1alpha1.RoundChangePoints
		outcome v1alpha1.RoundOutcome
		lenient bool
		want    string
	}{
		"a value has become worse": {
			read(v1alpha1.RoundChangePoints{Worse: worse}), v1alpha1.RoundPassed, false,
			"failed: Regressed: found to be worse within the newest 5 rounds: small: throughput: round 9: −12.0 %",
		},
		"one has become worse before": {
			read(v1alpha1.RoundChangePoints{Worse: worse[1:]}), v1alpha1.RoundPassed, false, "passed: no value was found to be worse within the newest 5 rounds",
		},
		"there are too few rounds": {
			read(v1alpha1.RoundChangePoints{Message: "3 rounds, and 12 are needed"}), v1alpha1.RoundPassed, false,
			"passed: no value was found to be worse within the newest 5 rounds; 3 rounds, and 12 are needed",
		},
		"the store is away": {
			read(v1alpha1.RoundChangePoints{Reason: v1alpha1.ReasonStoreUnavailable, Message: "no answer"}), v1alpha1.RoundPassed, false,
			"failed: StoreUnavailable: change points are not known: no answer; unknown change points fail the gate",
		},
		"the store is away, and the gate lets that pass": {
			read(v1alpha1.RoundChangePoints{Reason: v1alpha1.ReasonStoreUnavailable, Message: "no answer"}), v1alpha1.RoundPassed, true,
			"skipped: change points are not known: no answer",
		},
		"the store is waited for": {
			v1alpha1.RoundChangePoints{StartTime: &noon, Reason: v1alpha1.ReasonStoreUnavailable, Message: "no answer"},
			v1alpha1.RoundPassed, false,
			"skipped: change points are not known: no answer",
		},
		"the round has missed": {v1alpha1.RoundChangePoints{}, v1alpha1.RoundMissed, false, "skipped: change points are not known: not checked, because the round fails the gate anyway"},
		"the round is inconclusive": {
			v1alpha1.RoundChangePoints{}, v1alpha1.RoundInconclusive, false, "skipped: change points are not known: not checked, because the round fails the gate anyway",
		},
		"the suite is judged by another round": {
			v1alpha1.RoundChangePoints{}, v1alpha1.RoundPassed, false, "skipped: change points are not known: this round does not judge the suite",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := perf()
			if tc.lenient {
				s.Spec.Gate.OnInconclusive = v1alpha1.InconclusivePasses
			}
			s.Spec.Triggers.Change.Images = v1alpha1.ImagesAsWritten
			s.Status.Inputs.Hash = "another"
			s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone}}
			r := Of(s, nil, v1alpha1.SuiteRound{Round: 12, Outcome: tc.outcome, Inputs: "these", ChangePoints: tc.found})
			if got := cases(t, r)[":change points"]; got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
	s := perf()
	s.Spec.Gate.ChangePoints.WithinRounds = 0
	if got, there := cases(t, Of(s, nil, v1alpha1.SuiteRound{Round: 12, Outcome: v1alpha1.RoundPassed}))[":change points"]; there {
		t.Errorf("a gate that does not ask has the test %q", got)
	}
}
