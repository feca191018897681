package microbenchmark_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func spec(changes ...func(*v1alpha1.BenchmarkRunSpec)) v1alpha1.BenchmarkRunSpec {
	s := v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{
			{Name: "old", Image: "bench:1", Command: []string{"/bench", "old"}}, {Name: "new", Image: "bench:2", Command: []string{"/bench", "new"}, CPUs: 2},
		},
		Baseline: "old", Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest, LimitSeconds: 60},
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// outputs renames cases; names alternate between printed and given.
func outputs(implementation string, names ...string) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		own := v1alpha1.ProgramOutput{Implementation: implementation}
		for i := 0; i < len(names); i += 2 {
			own.Cases = append(own.Cases, v1alpha1.CaseName{Printed: names[i], Name: names[i+1]})
		}
		s.Microbenchmark.Outputs = append(s.Microbenchmark.Outputs, own)
	}
}

func objective(o v1alpha1.Objective) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) { s.Objectives = []v1alpha1.Objective{o} }
}

func TestWhatIsSaidOfServersIsRefusedOfPrograms(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.Implementation)
		want   string
	}{
		"a port": {func(i *v1alpha1.Implementation) { i.Port = 80 }, "spec.implementations[1].port is 80, but nobody sends requests to a program"},
		"a claim about its answer": {func(i *v1alpha1.Implementation) {
			i.Claims = []v1alpha1.Claim{{Subject: v1alpha1.ClaimSymbol, Value: "main"}, {Subject: v1alpha1.ClaimResponse, Value: "1.2"}}
		}, "spec.implementations[1].claims[1].subject is Response, but nobody sends requests to a program"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { tc.change(&s.Implementations[1]) }), plan.Options{Name: "parsers", UID: "u"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestObjectivesOfCasesArePlanned(t *testing.T) {
	p, err := plan.Compile(spec(objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedCaseTime, Case: "copy/*", Max: "1.05"})), plan.Options{Name: "parsers", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Objective{{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedCaseTime, Case: "copy/*", Max: "1.05"}}
	if diff := cmp.Diff(want, p.Objectives); diff != "" || p.Objectives[0].CaseMetric() != "Time" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATrialKnowsHowItsOwnProgramPrints(t *testing.T) {
	p, err := plan.Compile(spec(outputs("old", "BM_*", "*"), func(s *v1alpha1.BenchmarkRunSpec) {
		s.Microbenchmark.Outputs = append(s.Microbenchmark.Outputs, v1alpha1.ProgramOutput{Implementation: "new", Format: v1alpha1.FormatGoogleBenchmark})
	}), plan.Options{Name: "parsers", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]record.ProgramOutput{
		"old": {Implementation: "old", Format: record.GoTest, Cases: []record.CaseName{{Printed: "BM_*", Name: "*"}}},
		"new": {Implementation: "new", Format: record.GoogleBenchmark},
	}
	for _, trial := range p.Trials {
		work := kinds.Planned(p.Plan, trial)
		var m record.TrialManifest
		work.Describe(&m)
		if diff := cmp.Diff([]record.ProgramOutput{want[trial.Servers[0]]}, m.Programs.Outputs); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", trial.Name, diff)
		}
		if args := work.Members()[0].Processes[1].Args; args[1] != "--format="+string(want[trial.Servers[0]].Format) {
			t.Errorf("the collector of %s is started with %q", trial.Servers[0], args)
		}
	}
}

func TestFormatIsRecognizedByDefault(t *testing.T) {
	p, err := plan.Compile(spec(outputs("old", "BM_*", "*"), func(s *v1alpha1.BenchmarkRunSpec) { s.Microbenchmark.Format = "" }), plan.Options{Name: "parsers", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range p.Trials {
		work := kinds.Planned(p.Plan, trial)
		var m record.TrialManifest
		work.Describe(&m)
		if m.Programs.Format != record.Auto || work.Members()[0].Processes[1].Args[1] != "--format=Auto" {
			t.Errorf("%s reads %+v", trial.Name, m.Programs)
		}
	}
}

func TestEveryBlockRunsEveryProgramOnce(t *testing.T) {
	p, err := plan.Compile(spec(), plan.Options{Name: "parsers", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Trials) != 20 || len(p.Cells) != 0 || p.Generators.Pods != 0 || p.TrialSeconds != 65 {
		t.Fatalf("%d trials of %d cells and %v s, %d generators", len(p.Trials), len(p.Cells), p.TrialSeconds, p.Generators.Pods)
	}
	for _, trial := range p.Trials {
		want := microbenchmark.Microbenchmark{Program: p.Implementation(trial.Servers[0]), Programs: *p.Programs}
		if diff := cmp.Diff(want, kinds.Planned(p.Plan, trial)); diff != "" {
			t.Fatalf("%s reads back otherwise (-want +got):\n%s", trial.Name, diff)
		}
	}
}

func TestAProgramHasItsCPUsForItselfAndItsCollectorHasNone(t *testing.T) {
	p, err := plan.Compile(spec(), plan.Options{Name: "parsers", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	work := microbenchmark.Microbenchmark{Program: p.Implementation("new"), Programs: *p.Programs}
	members := work.Members()
	if len(members) != 1 || members[0].Name != record.MemberServer(0) || len(members[0].Processes) != 2 {
		t.Fatalf("the members are %+v", members)
	}
	program, collector := members[0].Processes[0], members[0].Processes[1]
	if program.MilliCPU != 2000 || !program.Launched || program.IsAgent() || program.Port != 0 {
		t.Errorf("the program is %+v", program)
	}
	if collector.MilliCPU%1000 == 0 || !collector.IsAgent() || !collector.Exchanges || strings.Join(collector.Args, " ") != "collect --format=GoTest" {
		t.Errorf("the collector is %+v", collector)
	}
	if slots := work.Slots(); len(slots) != 1 || slots[0].Measured != time.Minute || timetable.End(slots) <= time.Minute || !work.EndsItself() {
		t.Errorf("the slots are %+v", slots)
	}
}

func TestWhatAProgramHasNoUseForIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		want   string
	}{
		"no command":              {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Command = nil }, "spec.implementations[1].command is not set: name the program of new"},
		"a port":                  {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Port = 80 }, "spec.implementations[0].port is 80"},
		"a duet":                  {func(s *v1alpha1.BenchmarkRunSpec) { s.Order = v1alpha1.OrderSlicedDuet }, "spec.order applies to loads"},
		"percentiles":             {func(s *v1alpha1.BenchmarkRunSpec) { s.LatencyPercentiles = []string{"50"} }, "spec.latencyPercentiles applies to loads"},
		"an early end":            {func(s *v1alpha1.BenchmarkRunSpec) { s.Stop.MaxWidth = "0.05" }, "spec.stop applies to loads"},
		"an objective of loads":   {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveThroughput, Min: "1"}), "spec.objectives[0] bounds a metric of loads, and spec.microbenchmark has none: choose CaseTime, CaseBytes or CaseAllocations"},
		"a ratio of throughputs":  {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedThroughput, Min: "1"}), "spec.objectives[0] bounds a metric of loads"},
		"an objective at a level": {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveCaseTime, Load: "sweep", Max: "1"}), "spec.objectives[0] selects levels of a load, and spec.microbenchmark has none: name a case"},
		"a case with two stars":   {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveCaseTime, Case: "*/*", Max: "1"}), "spec.objectives[0].case is */*, with more than one *: leave one"},
		"a bound of 0":            {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveCaseAllocations, Max: "0"}), "spec.objectives[0] has the bound 0"},
		"an objective of nobody":  {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveCaseTime, Max: "1", Implementations: []string{"third"}}), "spec.objectives[0].implementations[0] is third, which is not in spec.implementations"},
		"a ratio of the baseline": {objective(v1alpha1.Objective{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: v1alpha1.ComparedCaseTime, Max: "1", Implementations: []string{"old"}}), "which is not compared with the baseline: name a contender other than old"},
		"pinning of generators":   {func(s *v1alpha1.BenchmarkRunSpec) { s.Placement.GeneratorPinning = v1alpha1.Preferred }, "spec.placement.generatorPinning applies to loads"},
		"nodes of generators":     {func(s *v1alpha1.BenchmarkRunSpec) { s.Placement.SeparateNodes = v1alpha1.Required }, "spec.placement.separateNodes applies to loads"},
		"loads beside programs":   {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads = make([]v1alpha1.Load, 1) }, "spec.loads and spec.microbenchmark are given together"},
		"neither of the two":      {func(s *v1alpha1.BenchmarkRunSpec) { s.Microbenchmark = v1alpha1.Microbenchmark{} }, "spec.loads and spec.microbenchmark are empty"},
		"outputs of nobody":       {outputs("third", "BM_A", "a"), "spec.microbenchmark.outputs[0].implementation is third, which is not in spec.implementations: name one of them"},
		"outputs of one twice":    {func(s *v1alpha1.BenchmarkRunSpec) { outputs("new", "BM_A", "a")(s); outputs("new", "BM_B", "b")(s) }, "spec.microbenchmark.outputs[1].implementation is new, as in an earlier entry: put both into one"},
		"outputs of no use":       {outputs("new"), "spec.microbenchmark.outputs[0] says nothing of new: give format or cases, or leave it out"},
		"two stars":               {outputs("new", "BM_*/*", "*"), "outputs[0].cases[0] has more than one *: leave one in printed and one in name"},
		"a star in one of them":   {outputs("new", "BM_*", "a"), "outputs[0].cases[0] has a * in one of printed and name: put it into both"},
		"a name that it has":      {outputs("new", "a", "a"), "outputs[0].cases[0] gives a the name that it has: leave the entry out"},
		"one case twice":          {outputs("new", "BM_A", "a", "BM_A", "b"), "outputs[0].cases[0].printed is BM_A, as in cases[1]: give each case one name"},
		"two cases of one name":   {outputs("new", "BM_A", "a", "BM_B", "a"), "outputs[0].cases[1].name is a, as in an earlier entry: two cases of one implementation cannot be one"},
		"names that change place": {outputs("new", "a", "b", "b", "a"), "outputs[0].cases[0].name is b, which cases[1] renames: names are replaced once"},
		"a chain of names":        {outputs("new", "a", "b", "b", "c"), "outputs[0].cases[0].name is b, which cases[1] renames: names are replaced once"},
		"too little memory":       {func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxSteal = "0.5" }, "spec.validity.maxSteal"},
		"more trials than a run":  {func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 501 }, "spec.blocks times spec.implementations makes 1002 trials"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Compile(spec(tc.change), plan.Options{Name: "parsers", UID: "u"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func decoded(results map[string]string) (record.TrialData, error) {
	d := record.TrialData{Manifest: record.TrialManifest{PlannedTrial: record.PlannedTrial{Servers: []string{"old"}}}}
	raw := map[string]json.RawMessage{}
	for member, body := range results {
		raw[member] = json.RawMessage(body)
	}
	err := microbenchmark.Kind{}.Decode(raw, &d)
	return d, err
}

func TestOfAProcessTheMedianOfItsRepetitionsCounts(t *testing.T) {
	d, err := decoded(map[string]string{"server-0": `{"program": {"cases": [
		{"name": "parse", "values": [{"metric": "Time", "unit": "ns", "better": "Less", "samples": [12, 10, 90]}, {"metric": "Allocations", "unit": "1", "better": "Less", "samples": [0, 0]}]},
		{"name": "print", "failure": "it did not"}, {"name": "scan", "values": [{"metric": "Rate", "unit": "1/s", "better": "More", "samples": [4, 8]}]}]}}`})
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Row{
		record.Exactly("Time", "parse", "ns", record.LessIsBetter, 12), record.Exactly("Allocations", "parse", "1", record.LessIsBetter, 0),
		record.Exactly("Rate", "scan", "1/s", record.MoreIsBetter, 6),
	}
	if diff := cmp.Diff(want, (microbenchmark.Kind{}).Rows(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCasesAreComparedByTheNamesOfTheirRun(t *testing.T) {
	d := record.TrialData{Manifest: record.TrialManifest{
		PlannedTrial: record.PlannedTrial{Servers: []string{"old"}},
		Programs:     &record.Programs{Outputs: []record.ProgramOutput{{Implementation: "old", Cases: []record.CaseName{{Printed: "BM_Switch/*", Name: "switch/depth:*"}}}}},
	}}
	body := `{"program": {"cases": [{"name": "BM_Switch/8", "values": [{"metric": "Time", "unit": "ns", "better": "Less", "samples": [12]}]}]}}`
	if err := (microbenchmark.Kind{}).Decode(map[string]json.RawMessage{"server-0": json.RawMessage(body)}, &d); err != nil {
		t.Fatal(err)
	}
	want := []record.Row{record.Exactly("Time", "switch/depth:8", "ns", record.LessIsBetter, 12)}
	if diff := cmp.Diff(want, (microbenchmark.Kind{}).Rows(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResultsThatAreNoProgramsAreRefused(t *testing.T) {
	for name, results := range map[string]map[string]string{
		"none":               {},
		"of a generator":     {"generator-0": `{"program": {}}`},
		"of a second member": {"server-0": `{"program": {}}`, "server-1": `{"program": {}}`},
		"of a server":        {"server-0": `{"cells": []}`},
		"half a result":      {"server-0": `{"program"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := decoded(results); err == nil {
				t.Error("no error")
			}
		})
	}
}
