package ui

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/suite/history"
)

var update = flag.Bool("update", false, "write golden files")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func frame() Frame { return Frame{Cluster: "https://10.0.0.1:6443", Now: noon} }

func ago(d time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-d)} }

func run(name string, minutes int, changes ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
	r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Namespace: "bench", Name: name, UID: types.UID("uid-of-" + name), CreationTimestamp: ago(time.Duration(minutes) * time.Minute), Finalizers: []string{v1alpha1.Finalizer},
	}}
	r.Spec.Implementations = []v1alpha1.Implementation{{Name: "go", Image: "registry.example/go:v1", Port: 80}, {Name: "epoll", Image: "registry.example/epoll:v1", Port: 80}}
	r.Spec.Baseline, r.Spec.Blocks, r.Spec.Seed = "go", 3, 8 // With this seed go comes first in each planned block.
	r.Spec.Loads = []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}, {Connections: 2}}, WarmupSeconds: new(int32(0)), DurationSeconds: 10}}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func summed(status metav1.ConditionStatus, reason, message string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(time.Minute)})
	}
}

func measures(left string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		summed(metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")(r)
		began := ago(2 * time.Minute)
		r.Status.StartTime, r.Status.Progress, r.Status.TimeLeft = &began, "5/12", left
	}
}

func queued(left string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		summed(metav1.ConditionUnknown, v1alpha1.ReasonQueued, "BenchmarkRun bench/now is measuring: runs take turns")(r)
		r.Status.TimeLeft = left
	}
}

func waitsForNodes(r *v1alpha1.BenchmarkRun) {
	summed(metav1.ConditionUnknown, v1alpha1.ReasonNotEnoughCPUs, "no node has two CPUs")(r)
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPlanned, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotEnoughCPUs, LastTransitionTime: ago(time.Minute)})
}

func ends(status metav1.ConditionStatus, reason, message, verdict string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		summed(status, reason, message)(r)
		began, ended := ago(9*time.Minute), ago(3*time.Minute)
		r.Status.StartTime, r.Status.CompletionTime, r.Status.Verdict = &began, &ended, verdict
	}
}

func succeeds(r *v1alpha1.BenchmarkRun) {
	ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "the report is stored", "epoll takes 52.1 % less CPU time per request than go")(r)
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone})
}

func inconclusive(r *v1alpha1.BenchmarkRun) {
	ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "the report is stored", "no verdict")(r)
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNoiseTooHigh})
}

func fails(r *v1alpha1.BenchmarkRun) {
	ends(metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "of implementation epoll no trial was measured", "")(r)
}

func trialOf(block int32, server string, changes ...func(*v1alpha1.Trial)) v1alpha1.Trial {
	r := run("now", 20)
	p := facts.KnownPlan(&r)
	lines := slices.Concat(p.Trials, p.Repeat(r.Name, 1), p.Repeat(r.Name, 2))
	line := lines[slices.IndexFunc(lines, func(l record.PlannedTrial) bool { return l.Block == block && l.Servers[0] == server })]
	t := v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: line.Name}}
	t.Spec.RunName, t.Spec.Block, t.Spec.Index = r.Name, block, &line.Index
	for _, change := range changes {
		change(&t)
	}
	return t
}

func over(minutes int, status metav1.ConditionStatus, reason, message string) func(*v1alpha1.Trial) {
	return func(t *v1alpha1.Trial) {
		t.Status.Attempt = 1
		t.Status.CompletionTime = &metav1.MicroTime{Time: noon.Add(-time.Duration(minutes) * time.Minute)}
		t.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message}}
	}
}

func stored(minutes int) func(*v1alpha1.Trial) {
	return over(minutes, metav1.ConditionTrue, v1alpha1.ReasonDone, "stored")
}

// goesOn makes a trial measure in its second attempt.
func goesOn(t *v1alpha1.Trial) {
	t.Status.StartTime = &metav1.MicroTime{Time: noon.Add(-time.Second)}
	t.Status.Attempt, t.Status.Progress, t.Status.Failures = 2, "1/2", []string{"the pod of the server was lost"}
}

// someTrials are from a run with two begun blocks: one trial was lost, and the last block is to come.
func someTrials() []v1alpha1.Trial {
	return []v1alpha1.Trial{
		trialOf(3, "go"), trialOf(2, "epoll"), trialOf(2, "go", goesOn), trialOf(1, "go", stored(2)),
		trialOf(1, "epoll", over(1, metav1.ConditionFalse, v1alpha1.ReasonPodLost, "the pod of the server was lost")), trialOf(3, "epoll"),
	}
}

func suite() v1alpha1.BenchmarkSuite {
	s := v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "checkout", UID: "uid-of-checkout", Generation: 2}}
	began, ended, next := ago(3*time.Hour), ago(2*time.Hour), ago(-time.Hour)
	missed := v1alpha1.SuiteRound{Round: 2, Trigger: v1alpha1.TriggerChange, Outcome: v1alpha1.RoundMissed, Reason: v1alpha1.ReasonObjectivesMissed, Message: "p99 is 12.4 ms, and may be 10 ms", StartTime: &began, CompletionTime: &ended, Against: []int32{1}}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonObjectivesMissed, Message: "round 2: p99 is 12.4 ms, and may be 10 ms", ObservedGeneration: 2}}
	s.Status.Current = v1alpha1.CurrentRound{Round: 3, Trigger: v1alpha1.TriggerSchedule, Run: "checkout-3-00", Progress: "0/1", StartTime: &began}
	s.Status.LastRound, s.Status.LastGood = missed, v1alpha1.SuiteRound{Round: 1, Outcome: v1alpha1.RoundPassed}
	s.Status.History = []v1alpha1.SuiteRound{missed, {Round: 1, Trigger: v1alpha1.TriggerRequest, Outcome: v1alpha1.RoundPassed, StartTime: &began, CompletionTime: &ended}}
	s.Status.NextScheduleTime = &next
	s.Status.Inputs.Images = []v1alpha1.ResolvedImage{{Image: "registry.example/go:v1", Digest: "sha256:0123"}}
	s.Status.Inputs.Parameters = []v1alpha1.ParameterValue{{Name: "tag", Value: "v1"}}
	return s
}

func ofRound(round int) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Labels = map[string]string{v1alpha1.LabelSuite: "checkout", v1alpha1.LabelSuiteUID: "uid-of-checkout", v1alpha1.LabelRound: fmt.Sprint(round)}
	}
}

// historyOfRounds is a suite's history whose costly server costs a fifth more from round worse on; the one after the last left nothing.
func historyOfRounds(rounds, worse int) history.History {
	var all []history.Values
	for round := 1; round <= rounds; round++ {
		cost := 1.0
		if round >= worse {
			cost = 1.2
		}
		table, err := analysis.Analyse(recordtest.Round(round, cost))
		if err != nil {
			panic(err)
		}
		all = append(all, history.Report{Round: int32(round), Run: "small", Table: table}.Values())
	}
	return history.Of("checkout", 0.03, all, []history.Gap{{Round: int32(rounds + 1), Run: "small", Reason: "it ended without a report"}})
}

// aaRunsOf are A/A runs on a machine; the last one shows noise as a difference, and one has no noise data.
func aaRunsOf(n int, machine string) []AARun {
	var out []AARun
	for i := range n {
		r := AARun{Namespace: "bench", Name: fmt.Sprintf("aa-%d", i+1)}
		r.Fingerprint, r.Machine, r.Image = "0123456789abcdef", machine, "registry.example/go:v1"
		r.Started = noon.AddDate(0, 0, i-n)
		ratio := 1 + 0.002*float64(i%3-1)
		if i == n-1 {
			ratio = 1.03
		}
		for _, m := range []verdict.Metric{verdict.Throughput, verdict.CPUPerRequest} {
			r.Values = append(r.Values, compare.Value{Load: "sweep", Metric: m, Blocks: 10, Ratio: ratio, Low: ratio / 1.012, High: ratio * 1.012, Detectable: 0.015})
		}
		out = append(out, r)
	}
	out[0].Bounded, out[0].Values = 1, out[0].Values[1:]
	shared := AARun{Namespace: "bench", Name: "shared"}
	shared.Nothing = "7 of its cells ran on shared CPUs, whose noise differs from that of pinned runs"
	return append(out, shared)
}

// slowed is a history of 20 rounds whose costly server costs more from the twelfth on.
var slowed = sync.OnceValue(func() history.History { return historyOfRounds(20, 12) })

var errAway = errors.New("the cluster is not reachable: name another one with --context or --kubeconfig, or start it")
