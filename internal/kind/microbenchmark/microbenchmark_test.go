package microbenchmark_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind/kinds"
	"loadstone.dev/loadstone/internal/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
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
		"no command":             {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Command = nil }, "spec.implementations[1].command is not set: name the program of new"},
		"a port":                 {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Port = 80 }, "spec.implementations[0].port is 80"},
		"a duet":                 {func(s *v1alpha1.BenchmarkRunSpec) { s.Order = v1alpha1.OrderSlicedDuet }, "spec.order applies to loads"},
		"percentiles":            {func(s *v1alpha1.BenchmarkRunSpec) { s.LatencyPercentiles = []string{"50"} }, "spec.latencyPercentiles applies to loads"},
		"an early end":           {func(s *v1alpha1.BenchmarkRunSpec) { s.Stop.MaxWidth = "0.05" }, "spec.stop applies to loads"},
		"objectives":             {func(s *v1alpha1.BenchmarkRunSpec) { s.Objectives = make([]v1alpha1.Objective, 1) }, "spec.objectives applies to loads"},
		"pinning of generators":  {func(s *v1alpha1.BenchmarkRunSpec) { s.Placement.GeneratorPinning = v1alpha1.Preferred }, "spec.placement.generatorPinning applies to loads"},
		"nodes of generators":    {func(s *v1alpha1.BenchmarkRunSpec) { s.Placement.SeparateNodes = v1alpha1.Required }, "spec.placement.separateNodes applies to loads"},
		"loads beside programs":  {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads = make([]v1alpha1.Load, 1) }, "spec.loads and spec.microbenchmark are both given"},
		"neither of the two":     {func(s *v1alpha1.BenchmarkRunSpec) { s.Microbenchmark = v1alpha1.Microbenchmark{} }, "spec.loads is empty"},
		"too little memory":      {func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxSteal = "0.5" }, "spec.validity.maxSteal"},
		"more trials than a run": {func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 501 }, "spec.blocks times spec.implementations makes 1002 trials"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Compile(spec(tc.change), plan.Options{Name: "parsers", UID: "u"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// decoded is a trial of one program with the results of its members.
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
