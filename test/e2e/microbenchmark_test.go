package e2e

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// Each operation of a planted case costs plantedMore more. A ratio may differ from that by plantedSlack.
	plantedMore, plantedSlack = 0.1, 0.04
	faultyImage               = "localhost/loadstone/faulty:dev"
)

// programs is a run of a self-measuring program, once per set of flags.
func programs(name string, blocks int32, flags ...[]string) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Baseline: "first", Blocks: blocks, Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatJSONLines, LimitSeconds: 30},
		},
	}
	for i, own := range flags {
		run.Spec.Implementations = append(run.Spec.Implementations, v1alpha1.Implementation{
			Name: []string{"first", "second"}[i], Image: faultyImage, Command: append([]string{"/usr/local/bin/faulty", "cases"}, own...),
		})
	}
	return run
}

// A planted tenth is found in its cases; other cases show no difference.
func TestAPlantedTenthIsFoundInItsCases(t *testing.T) {
	run := programs("cases", verdict.MinBlocks, nil, []string{"--more=0.1"})
	data, table := measure(t, run, 15*time.Minute)
	for _, trial := range data.Trials {
		own := trial.Servers[0]
		if own.Program == nil || len(own.Program.Cases) != 6 || own.Cells[0].CPUsAllowed == own.Environment.CPUsAllowed {
			t.Fatalf("%s: %+v on CPUs %s beside a collector on %s", trial.Manifest.Name, own.Program, own.Cells[0].CPUsAllowed, own.Environment.CPUsAllowed)
		}
	}
	for _, p := range table.Programs {
		for _, r := range p.Reasons {
			t.Logf("%s of block %d: %+v", p.Implementation, p.Block, r)
		}
	}
	if len(table.Rows) != 6 {
		t.Fatalf("%d cases are compared, want 6", len(table.Rows))
	}
	found := 0
	for _, r := range table.Rows {
		t.Logf("%s: %s %s of %d blocks, ratio %v", r.Case, r.Verdict, r.Reason, r.Blocks, value(r.Ratio))
		planted := strings.HasPrefix(r.Case, "planted")
		switch {
		case planted && r.Verdict == verdict.Better:
			t.Errorf("%s is %s", r.Case, r.Verdict)
		case planted && r.Verdict != verdict.Worse && r.Blocks >= verdict.MinBlocks && r.Reason != verdict.NoiseTooHigh && r.Reason != verdict.ManyComparisons:
			t.Errorf("the planted %v of %s is %s: %s", plantedMore, r.Case, r.Verdict, r.Reason)
		case planted && r.Verdict == verdict.Worse:
			found++
		}
	}
	neverTwice(t, run, table, func(table analysis.Table) (list []string) {
		for _, r := range table.Rows {
			differs := r.Verdict == verdict.Better || r.Verdict == verdict.Worse
			switch planted := strings.HasPrefix(r.Case, "planted"); {
			case !planted && differs:
				list = append(list, fmt.Sprintf("%s is %s", r.Case, r.Verdict))
			case planted && r.Verdict == verdict.Worse && math.Abs(*r.Ratio-1-plantedMore) > plantedSlack && (*r.Low > 1+plantedMore || *r.High < 1+plantedMore):
				// An interval misses its value once in a hundred times.
				list = append(list, fmt.Sprintf("the ratio of %s is %v, %v to %v; planted was %v", r.Case, *r.Ratio, *r.Low, *r.High, 1+plantedMore))
			}
		}
		return list
	})
	if found == 0 && table.Coverage.VoidCells+table.Coverage.SuspectCells == 0 {
		t.Error("none of the planted cases was found on an undisturbed machine")
	}
}

func value(v *float64) any {
	if v == nil {
		return "unknown"
	}
	return *v
}

// A program's fault ends its run at once, with a message that names it.
func TestAProgramThatFailsIsNamed(t *testing.T) {
	for flag, want := range map[string][2]string{
		"--garbage": {v1alpha1.ReasonOutputUnreadable, "implementations[second]: line 1"},
		"--crash":   {v1alpha1.ReasonProgramFailed, "crashing, as was asked"},
		"--hang":    {v1alpha1.ReasonProgramTimedOut, "implementations[second]: it had not ended after 3s"},
	} {
		t.Run(flag, func(t *testing.T) {
			run := programs("fails"+strings.ReplaceAll(flag, "--", "-"), 1, nil, []string{flag})
			run.Spec.Microbenchmark.LimitSeconds = 3
			mustApply(t, run)
			await(t, run, 5*time.Minute, "ended", ended)
			c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionExecuted)
			if c == nil || c.Reason != v1alpha1.ReasonTrialsFailed || !strings.Contains(c.Message, want[1]) {
				t.Errorf("the run has ended with %+v, want a word about %q", c, want[1])
			}
			data := load(t, run)
			failed := slices.IndexFunc(data.Manifest.Trials, func(e record.TrialEntry) bool { return e.Reason == want[0] })
			// The first program is not measured if the second one came first: nothing is left to compare then. If a disturbed block was repeated, it
			// is measured twice.
			blamed := slices.ContainsFunc(data.Manifest.Trials, func(e record.TrialEntry) bool {
				return (e.Manifest != nil) != slices.Equal(e.Servers, []string{"first"})
			})
			if failed < 0 || blamed {
				t.Fatalf("the manifest has %+v", data.Manifest.Trials)
			}
			said := data.Manifest.Trials[failed].Message
			if printed := flag != "--hang"; strings.Contains(said, "its output is stored as ") != printed {
				t.Errorf("the program printed something: %v, and its trial says %s", printed, said)
			}
		})
	}
}

// Cases are compared under the names in the run, and their times have limits.
func TestCasesAreNamedAndBounded(t *testing.T) {
	run := programs("named", 3, nil, nil)
	run.Spec.Microbenchmark.Outputs = []v1alpha1.ProgramOutput{
		{Implementation: "first", Cases: []v1alpha1.CaseName{{Printed: "equal/*", Name: "same/*"}}},
		{Implementation: "second", Cases: []v1alpha1.CaseName{{Printed: "planted/*", Name: "same/*"}}},
	}
	run.Spec.Objectives = []v1alpha1.Objective{{Metric: v1alpha1.ObjectiveCaseTime, Case: "same/*", Max: "1"}}
	mustApply(t, run)
	await(t, run, 10*time.Minute, "ended", ended)
	table := analyse(t, load(t, run))
	for _, r := range table.Rows {
		if !strings.HasPrefix(r.Case, "same/") {
			t.Errorf("%s is compared", r.Case)
		}
	}
	if len(table.Rows) != 3 || len(table.Objectives) != 6 {
		t.Errorf("%d cases are compared and %d objectives judged, want 3 and 6", len(table.Rows), len(table.Objectives))
	}
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if c == nil || c.Reason != v1alpha1.ReasonObjectivesMissed && c.Reason != v1alpha1.ReasonObjectivesUndecided {
		t.Errorf("an operation that takes a nanosecond at most: the run has ended with %+v", c)
	}
}

// shortenedPrograms are the suites' commands with arguments for a second or two.
var shortenedPrograms = map[string][]string{
	"s2-coro.yaml":  {"--benchmark_min_time=0.01", "--benchmark_filter=(pure_switch/switches:100000|depth:(1|16)|kib:4)/"},
	"s3-ipc.yaml":   {"-test.benchtime=5ms", "-test.bench=/(baseline|roundtrip)"},
	"s4-lzlog.yaml": {"--seconds", "0.05"},
}

// Each suite of programs runs, shortened. Every implementation prints a case that the baseline has.
func TestTheSuitesOfProgramsRun(t *testing.T) {
	for name, arguments := range shortenedPrograms {
		t.Run(name, func(t *testing.T) {
			run := suite(t, name)
			run.Spec.Blocks = 1
			for i := range run.Spec.Implementations {
				own := &run.Spec.Implementations[i]
				if own.Name == "c" {
					own.Command = []string{"/usr/local/bin/ipc-c-bench", "bench", "--seconds", "0.01"}
					continue
				}
				own.Command = append(own.Command, arguments...)
			}
			_, table := measure(t, run, 10*time.Minute)
			for _, i := range table.Implementations {
				printed := slices.ContainsFunc(table.Cases, func(c analysis.Case) bool { return c.Implementation == i.Name && c.Processes > 0 })
				compared := i.Baseline || i.Role == record.RoleReference || slices.ContainsFunc(table.Rows, func(r verdict.RowComparison) bool { return r.Implementation == i.Name })
				if !printed || !compared {
					t.Errorf("%s has printed a case: %v, and is compared: %v", i.Name, printed, compared)
				}
			}
			checkReport(t, run, table)
		})
	}
}
