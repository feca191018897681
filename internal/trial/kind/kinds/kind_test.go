package kinds_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/kindtest"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// These tests take an unknown kind through plans, pods, attempts, comparison and report. Package local leads, stores
// and reads it with a real backend.

var fast = kindtest.Timing{Program: record.Implementation{Name: "fast", Image: "fast:1", Command: []string{"/bench", "--json"}}}

func TestAKindPlansItsTrials(t *testing.T) {
	kindtest.Know(t)
	spec := v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "fast", Image: "fast:1"}, {Name: "slow", Image: "slow:1"}}, Baseline: "fast", Seed: kindtest.Seed,
	}
	p := planOf(t, spec)
	if len(p.Trials) != 20 || p.TrialSeconds != 60 || !slices.Contains(p.Notes, kindtest.Note) {
		t.Errorf("%d trials of %v s, with the notes %q", len(p.Trials), p.TrialSeconds, p.Notes)
	}
	if !slices.Contains(p.Notes, "spec.placement.pinning defaults to Required: a process that does not own its CPUs is void") || slices.Contains(p.Notes, "spec.placement.separateNodes defaults to Preferred") {
		t.Errorf("a kind without words of its own has the notes %q", p.Notes)
	}
	for _, line := range p.Trials {
		if w := kinds.Planned(p.Plan, line); line.Type != kindtest.Type || w.Servers()[0].Name != line.Servers[0] {
			t.Fatalf("%s is of type %s and does %+v", line.Name, line.Type, w)
		}
	}
	run := conduct.Run{Name: "timed", Plan: p}
	if _, all := run.Progress(); all != 20 {
		t.Errorf("its progress counts %d, want one a trial", all)
	}
	spec.Blocks = kindtest.MaxBlocks + 1
	if _, err := plan.Compile(spec, plan.Options{}); err == nil || !strings.Contains(err.Error(), "nobody has so much time") {
		t.Errorf("got %v", err)
	}
}

func planOf(t *testing.T, spec v1alpha1.BenchmarkRunSpec) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec, plan.Options{Name: "timed", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAKindFitsWhereItsMembersFindRoom(t *testing.T) {
	kindtest.Know(t)
	server := func(milliCPU int64) plan.Node {
		return plan.Node{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: milliCPU}
	}
	timedOnly := v1alpha1.BenchmarkRunSpec{Implementations: []v1alpha1.Implementation{{Name: "fast", Image: "fast:1"}}, Seed: kindtest.Seed}
	swept := v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "fast", Image: "fast:1", Port: 80}},
		Loads:           []v1alpha1.Load{{Name: "l", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}}}},
	}
	// After the blocks of a sweep, the run also times each program.
	both := planOf(t, swept)
	both.Following = []record.PlannedTrial{{Name: "timed-fast", Index: int32(len(both.Trials)), Type: kindtest.Type, Servers: []string{"fast"}}}
	for name, tc := range map[string]struct {
		plan  plan.Plan
		nodes []plan.Node
		want  string
	}{
		"a node with room for all its processes": {planOf(t, timedOnly), []plan.Node{server(2100)}, ""},
		"a node with room for the program alone": {
			planOf(t, timedOnly),
			[]plan.Node{server(2000)},
			"spec.implementations[0].cpus is 1: its pod needs 2100m CPU on one node, and the largest node for a server, s, has 2000m allocatable",
		},
		"after a sweep, on nodes for both":            {both, []plan.Node{server(2100), {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 1000}}, ""},
		"after a sweep, on nodes for the sweep alone": {both, []plan.Node{server(1200), {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 1000}}, "its pod needs 2100m CPU"},
		"after a sweep, without a generator's node":   {both, []plan.Node{server(2100), {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 900}}, "spec.loads[].generators.cpus is 1: its pod needs 1000m"},
	} {
		t.Run(name, func(t *testing.T) {
			v := plan.Fits(tc.plan, tc.nodes)
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonNotEnoughCPUs || !strings.Contains(v.Message, tc.want)) {
				t.Errorf("got %+v, want %q", v, tc.want)
			}
		})
	}
	if got := plan.LargestServer(both).MilliCPU; got != 2100 {
		t.Errorf("the largest server needs %dm, want the 2100m of the program with its collector", got)
	}
}

// paired is a kind whose trials run two programs in turns, with its own messages about missing room.
type paired struct{ kindtest.Timings }

func (paired) Groups(_ record.Plan, drawn []string) []kind.Group {
	return []kind.Group{{Name: "pair", Servers: drawn[:2]}, {Name: drawn[2], Servers: drawn[2:]}}
}

func (paired) Work(p record.Plan, line record.PlannedTrial) kind.Work {
	return pair{programs: kind.Servers(p, line)}
}

type pair struct {
	kindtest.Timing
	programs []record.Implementation
}

func (w pair) Members() []kind.Member {
	var members []kind.Member
	for i := range w.programs {
		m := kindtest.Timing{Program: w.programs[i]}.Members()[0]
		m.Name, m.Words = record.MemberServer(i), kind.Words{CPUs: "spec.seed is a pair's: its programs need", Way: "choose another seed"}
		if i > 0 {
			m.With = record.MemberServer(0)
		}
		members = append(members, m)
	}
	return members
}

func TestAKindSaysWhichImplementationsATrialHas(t *testing.T) {
	kindtest.KnowOnly(t, paired{})
	p := planOf(t, v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}, {Name: "c", Image: "c:1"}}, Seed: kindtest.Seed, Blocks: 3,
	})
	if len(p.Trials) != 6 {
		t.Fatalf("%d trials, want two a block", len(p.Trials))
	}
	for i, line := range append(p.Trials, p.Repeat("timed", 1)...) {
		if want := 2 - i%2; len(line.Servers) != want || line.Index != int32(i) || line.Block != int32(1+i/2) {
			t.Errorf("trial %d is %+v, want one of block %d with %d programs", i, line, 1+i/2, want)
		}
	}
	if got := p.Trials[0].Name; got != "timed-000-pair" {
		t.Errorf("the first trial is called %s", got)
	}
	node := plan.Node{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: 4200}
	if v := plan.Fits(p, []plan.Node{node}); v != nil {
		t.Errorf("a node with room for both: %v", v)
	}
	node.MilliCPU--
	want := "spec.seed is a pair's: its programs need 4200m CPU on one node, and the largest node for a server, s, has 4199m allocatable: add a larger node labelled loadstone.dev/role=server or choose another seed"
	if v := plan.Fits(p, []plan.Node{node, {Name: "t", Role: v1alpha1.RoleServer, MilliCPU: 4199}}); v == nil || v.Message != want {
		t.Errorf("a node too small: got %v, want %q", v, want)
	}
}

func TestAKindNamesItsOwnPods(t *testing.T) {
	tr := &v1alpha1.Trial{}
	tr.Name = "run-000-fast"
	pod := render.Pod(tr, fast.Members()[0], timetable.End(fast.Slots()), render.PodOptions{AgentImage: "agent:1", Attempt: 1})
	if got := pod.Name; got != "run-000-fast-1-s0" {
		t.Errorf("the pod is called %s", got)
	}
	program, collector := pod.Spec.Containers[0], pod.Spec.Containers[1]
	if program.Image != "fast:1" || program.Resources.Limits.Cpu().Value() != 2 || len(program.Ports) != 0 || !slices.Contains(program.Command, "/bench") {
		t.Errorf("the program is %+v", program)
	}
	if collector.Image != "agent:1" || collector.Args[0] != "collect" || program.Resources.Limits[corev1.ResourceMemory] == collector.Resources.Limits[corev1.ResourceMemory] {
		t.Errorf("the collector is %+v", collector)
	}
	if least := int64(time.Minute.Seconds()); *pod.Spec.ActiveDeadlineSeconds <= least {
		t.Errorf("the pod lives %d s, and its work takes %d s", *pod.Spec.ActiveDeadlineSeconds, least)
	}
}

func TestAKindSaysWhatTheEndOfItsProcessMeans(t *testing.T) {
	for name, tc := range map[string]struct {
		work   kind.Work
		code   int32
		failed bool
	}{
		"a program that has done its work":  {fast, 0, false},
		"a program that has failed":         {fast, 3, true},
		"a server that ends as if all well": {sweep.Sweep{}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := conduct.ServerExited(tc.work, fast.Program, conduct.Exit{Code: tc.code})
			if (f != nil) != tc.failed {
				t.Errorf("got %+v, want a failure: %v", f, tc.failed)
			}
			if f != nil && (f.Reason == v1alpha1.ReasonProgramFailed) != tc.work.EndsItself() {
				t.Errorf("the reason is %s", f.Reason)
			}
		})
	}
}

func TestAnAttemptAtAKindFollowsItsSlots(t *testing.T) {
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	a := conduct.Attempt{Number: 1, Work: fast, Begun: start, Started: start, Now: start.Add(30 * time.Second)}
	if !a.Measuring() || a.Quiet() || a.CellsDone() != 0 || a.NextEnd() != 30*time.Second {
		t.Errorf("half-way: measuring %v, quiet %v, %d done, next in %s", a.Measuring(), a.Quiet(), a.CellsDone(), a.NextEnd())
	}
	if wait := a.AwaitEnd(protocol.State{Phase: protocol.Running}); wait <= 0 || wait > time.Second {
		t.Errorf("a program that runs is looked at again in %s", wait)
	}
	if wait := a.AwaitEnd(protocol.State{Phase: protocol.Measured}); wait > 0 {
		t.Errorf("a program that has ended is awaited for another %s", wait)
	}
	a.Now = start.Add(time.Minute)
	if a.CellsDone() != 1 || a.Quiet() {
		t.Errorf("at its end: %d done, quiet %v", a.CellsDone(), a.Quiet())
	}
	m := conduct.Trial{PlannedTrial: record.PlannedTrial{Name: "t", Type: kindtest.Type, Servers: []string{"fast"}}, Work: fast}.Manifest(conduct.TrialRecord{})
	if m.Type != kindtest.Type || len(m.Cells) != 0 {
		t.Errorf("the manifest is of %s with %d cells", m.Type, len(m.Cells))
	}
}

// printed is a case that a program prints three times.
func printed(name string, nanos float64) record.Case {
	return record.Case{Name: name, Values: []record.CaseValue{{Metric: "Time", Unit: "ns", Better: record.LessIsBetter, Samples: []float64{2 * nanos, nanos, 3 * nanos}}}}
}

// run times two programs in every block. The second prints as fast as the first, and parses more slowly by a factor.
func run(t *testing.T, blocks int32, factor float64) record.RunData {
	t.Helper()
	o := recordtest.Duel(blocks)
	o.Servers = o.Servers[:2]
	return runOf(t, o, kindtest.Timings{}, factor)
}

// runOf is such a run with one program per server. From the third on they equal the first.
func runOf(t *testing.T, o recordtest.Options, work kind.Kind, factor float64) record.RunData {
	t.Helper()
	kindtest.KnowOnly(t, work)
	o.Levels = o.Levels[:1]
	d := recordtest.Run(o)
	swept := d.Trials
	d.Trials, d.Manifest.Trials, d.Manifest.Plan.Cells, d.Manifest.Plan.Trials = nil, nil, nil, nil
	rng := rand.New(rand.NewPCG(uint64(o.Blocks), 7))
	noisy := func(nanos float64) float64 { return nanos * math.Exp(0.01*rng.NormFloat64()) }
	for block := range slices.Chunk(swept, len(o.Servers)) {
		var drawn []string
		for _, alone := range block {
			drawn = append(drawn, alone.Manifest.Servers[0])
		}
		for _, g := range kinds.Groups(d.Manifest.Plan, work.Type(), drawn) {
			m := block[slices.Index(drawn, g.Servers[0])].Manifest
			m.Type, m.Servers, m.Artifacts, m.Cells = work.Type(), g.Servers, nil, nil
			results := map[string]json.RawMessage{}
			for k, server := range g.Servers {
				parse := 100.0
				if server == o.Servers[1].Name {
					parse *= factor
				}
				result, err := json.Marshal(record.ObserverResult{
					Program: &record.ProgramRun{Cases: []record.Case{printed("parse", noisy(parse)), printed("print", noisy(50))}},
				})
				if err != nil {
					t.Fatal(err)
				}
				results[record.MemberServer(k)] = result
			}
			one := record.TrialData{Manifest: m}
			if err := work.Decode(results, &one); err != nil {
				t.Fatal(err)
			}
			one.Rows = work.Rows(one)
			d.Trials = append(d.Trials, one)
			d.Manifest.Plan.Trials = append(d.Manifest.Plan.Trials, m.PlannedTrial)
			d.Manifest.Trials = append(d.Manifest.Trials, record.TrialEntry{PlannedTrial: m.PlannedTrial, Manifest: &record.Artifact{Key: m.Name}})
		}
	}
	return d
}

func TestTheValuesOfAKindAreComparedCaseByCase(t *testing.T) {
	table, err := analysis.Analyse(run(t, 10, 1.1))
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 2 {
		t.Fatalf("%d comparisons, want one a case: %+v", len(table.Rows), table.Rows)
	}
	parse, print := table.Rows[0], table.Rows[1]
	if parse.Case != "parse" || parse.Verdict != verdict.Worse || math.Abs(*parse.Ratio-1.1) > 0.02 || parse.Blocks != 10 {
		t.Errorf("parse: %s of %d blocks, ratio %v", parse.Verdict, parse.Blocks, *parse.Ratio)
	}
	if print.Verdict != verdict.NoDifference {
		t.Errorf("print, which is the same: %s %s, ratio %v", print.Verdict, print.Reason, *print.Ratio)
	}
	if conclusive, reason := table.Conclusive(); !conclusive {
		t.Errorf("the run is not conclusive: %s", reason)
	}
	if c := table.Coverage; c.MeasuredTrials != 20 || c.PlannedTrials != 20 || len(c.Missing) != 0 {
		t.Errorf("%d of %d trials are covered, and %d are missing; want 20 of 20", c.MeasuredTrials, c.PlannedTrials, len(c.Missing))
	}
	if o := table.Headline().Cases; len(o) != 1 || o[0].Worse != 1 || o[0].Same != 1 || o[0].Largest.Case != "parse" {
		t.Errorf("the headline counts %+v", o)
	}
}

// Nothing that the kind leaves looks like one observed program.
func TestAProcessThatNobodyObservedCountsAndIsMarked(t *testing.T) {
	d := run(t, 7, 1.1)
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	if c := table.Coverage; c.MeasuredCells != 14 || c.SuspectCells != 14 || c.VoidCells != 0 || c.PinnedCells != 0 {
		t.Errorf("the coverage is %+v, want 14 suspect processes", c)
	}
	for i, p := range table.Programs {
		if len(d.Trials[i].Servers) != 0 || len(p.Reasons) != 1 || p.Reasons[0].Code != validity.NotChecked {
			t.Errorf("%s has %d observations and is marked %+v", p.Trial, len(d.Trials[i].Servers), p.Reasons)
		}
	}
}

func TestAKindWhoseTrialsHaveTwoProgramsIsComparedAndCountedByTrial(t *testing.T) {
	o := recordtest.Duel(10)
	o.Servers[2].Role = record.RoleContender
	d := runOf(t, o, paired{}, 1.1)
	recordtest.Drop(&d, 3, d.Trials[4].Manifest.Servers[0], v1alpha1.ReasonPodLost, "its node is gone")
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	if c := table.Coverage; c.PlannedTrials != 20 || c.MeasuredTrials != 19 || c.PlannedCells != 30 || c.MeasuredCells != 28 || len(c.Missing) != 2 {
		t.Errorf("the coverage is %+v, want 20 trials of 30 processes, of which one of two is missing", c)
	}
	for _, r := range table.Rows {
		want := verdict.NoDifference
		if r.Implementation == o.Servers[1].Name && r.Case == "parse" {
			want = verdict.Worse
		}
		if r.Verdict != want || r.Blocks != 9 {
			t.Errorf("%s of %s: %s of %d blocks, want %s of 9", r.Case, r.Implementation, r.Verdict, r.Blocks, want)
		}
	}
	if len(table.Rows) != 4 {
		t.Errorf("%d comparisons, want two cases of two programs", len(table.Rows))
	}
}

func TestTooFewBlocksOfAKindDecideNothing(t *testing.T) {
	table, err := analysis.Analyse(run(t, 4, 1.5))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.Rows {
		if r.Verdict != verdict.Inconclusive || r.Reason != verdict.TooFewBlocks {
			t.Errorf("%s: %s %s", r.Case, r.Verdict, r.Reason)
		}
	}
	table.Comparisons, table.Capacities = nil, nil
	if conclusive, reason := table.Conclusive(); conclusive || reason != v1alpha1.ReasonTooFewBlocks {
		t.Errorf("of undecided cases alone the run is conclusive %v, %s", conclusive, reason)
	}
}

func TestTheReportHasASectionForTheValuesOfAKind(t *testing.T) {
	table, err := analysis.Analyse(run(t, 10, 1.1))
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.HTML(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="cases"`, "parse", "Least time (ns, less is better)", "worse"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

func TestARegistryFindsAKindByItsType(t *testing.T) {
	known := kind.NewKinds(sweep.Kind{}, kindtest.Timings{})
	if len(known) != 2 || known[kindtest.Type].Type() != kindtest.Type {
		t.Errorf("the registry is %v", known)
	}
	if w := kinds.Planned(record.Plan{}, record.PlannedTrial{Type: "Dance"}); w != (kind.Unknown{}) {
		t.Errorf("an unknown kind does %+v", w)
	}
}
