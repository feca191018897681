package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

// planted is the reason that a report must give for a load's planted fault in the faulty server.
type planted struct {
	load   v1alpha1.Load
	reason validity.Code
	weight validity.Validity
}

// point is the cell with the fault: the load's last level.
func (p planted) point() record.Point {
	l := p.load.Levels[len(p.load.Levels)-1]
	return record.Point{Load: p.load.Name, Connections: l.Connections, RequestsPerSecond: l.RequestsPerSecond}
}

// faultyServer is the server that misbehaves on demand.
const faultyServer = "faulty"

func closed(c int32) v1alpha1.Level { return v1alpha1.Level{Connections: c} }

// plantedLoad is a load from two pods without a warm-up. Its query has the fault; good servers ignore it.
func plantedLoad(name string, tool v1alpha1.Tool, query string, levels ...v1alpha1.Level) v1alpha1.Load {
	body := "helloworld"
	return v1alpha1.Load{
		Name: name, Tool: tool, Generators: v1alpha1.Generators{Pods: 2}, Levels: levels, WarmupSeconds: new(int32(0)), DurationSeconds: 1,
		Request: v1alpha1.Request{Path: "/" + query, Expect: v1alpha1.Expect{Body: &body}},
	}
}

// faultLoads are faults that are reported by cell, with any verdict. The faulty server answers on 60 connections at a time, so only the level with
// more is affected.
func faultLoads() []planted {
	// Answers are compared during the warm-up. Without one only a few are, and one wrong body in a hundred is rarely among them.
	bodies := plantedLoad("bodies", v1alpha1.ToolWrk, "?wrong-body-every=100", closed(20))
	bodies.WarmupSeconds = new(int32(1))
	return []planted{
		{load: plantedLoad("sweep", v1alpha1.ToolWrk, "", closed(20), closed(100)), reason: validity.Unanswered, weight: validity.Void},
		{load: plantedLoad("lengths", v1alpha1.ToolAb, "?wrong-length-every=1000", closed(20)), reason: validity.WrongBody, weight: validity.Void},
		{load: plantedLoad("errors", v1alpha1.ToolWrk, "?error-every=1000", closed(20)), reason: validity.WrongStatus, weight: validity.Void},
		{load: bodies, reason: validity.WrongAnswers, weight: validity.Void},
		{load: plantedLoad("hangs", v1alpha1.ToolWrk, "?hang-every=200", closed(20)), reason: validity.Hung, weight: validity.Void},
		{load: plantedLoad("closes", v1alpha1.ToolWrk, "?close-every=10", closed(20)), reason: validity.KeepAliveLost, weight: validity.Suspect},
		{load: plantedLoad("late", v1alpha1.ToolK6, "?spin=20000000", v1alpha1.Level{Connections: 20, RequestsPerSecond: 400}), reason: validity.RateMissed, weight: validity.Void},
	}
}

// plantedRun measures good servers, the first as baseline, and the faulty one.
func plantedRun(name string, blocks int32, faults []planted, good ...string) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{
				{Name: faultyServer, Image: image(faultyServer), Port: 8080, Command: []string{"/usr/local/bin/faulty", "--port=8080", "--serve-only=60"}},
			},
			Baseline: good[0], Blocks: blocks,
			Placement: v1alpha1.Placement{GeneratorPinning: v1alpha1.Preferred},
		},
	}
	for _, name := range good {
		run.Spec.Implementations = append(run.Spec.Implementations, v1alpha1.Implementation{Name: name, Image: image(name), Port: 8080})
	}
	for _, f := range faults {
		run.Spec.Loads = append(run.Spec.Loads, f.load)
	}
	return run
}

// Each fault is reported in its cell, good cells have no such reason, and merged percentiles equal those of raw latencies.
func TestPlantedFaultsAreNamedInTheCellsThatTheyHit(t *testing.T) {
	faults := faultLoads()
	run := plantedRun("faults", 2, faults, "gohttp", "epoll")
	data, table := measure(t, run, 15*time.Minute)
	t.Log(run.Status.Verdict)
	for _, f := range faults {
		checkPlanted(t, run, table, f)
	}
	checkMerged(t, data, table, record.Point{Load: "sweep", Connections: 20})
	checkReport(t, run, table)
}

// checkPlanted expects the fault's reason in every affected cell of the faulty server and in no good cell, except for disturbed cells.
func checkPlanted(t *testing.T, run *v1alpha1.BenchmarkRun, table analysis.Table, f planted) {
	t.Helper()
	if f.reason == "" {
		return
	}
	named := func(c validity.Cell) bool {
		return slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool {
			return r.Code == f.reason && (r.Weight == f.weight || r.Weight == validity.Void)
		})
	}
	for _, i := range run.Spec.Implementations {
		name := i.Name
		g := table.Group(f.point(), name)
		if g == nil {
			t.Errorf("%s of %s was not measured", f.load.Name, name)
			continue
		}
		cells := slices.DeleteFunc(slices.Clone(g.Cells), validity.Cell.HasExternalReason)
		if len(cells) == 0 {
			t.Errorf("%s of %s: all of %d cells were hit from outside", f.load.Name, name, len(g.Cells))
		}
		for _, c := range cells {
			if got, want := named(c), name == faultyServer; got != want {
				t.Errorf("%s of %s in block %d: %s is named: %v, want %v; reasons: %s", f.load.Name, name, c.Block, f.reason, got, want, codes(c))
			}
		}
	}
}

func codes(c validity.Cell) string {
	var words []string
	for _, r := range c.Reasons {
		words = append(words, fmt.Sprintf("%s %s %.4g %s", r.Weight, r.Code, r.Value, r.Detail))
	}
	return strings.Join(words, "; ")
}

// checkVerdicts expects epoll, which needs a fraction of the CPU time, to be better if the data can decide.
func checkVerdicts(t *testing.T, table analysis.Table, decidable bool) {
	t.Helper()
	for _, c := range table.Comparisons {
		r := c.Deciding()
		t.Logf("%s: %s (%s) by %s, %d blocks", c.Implementation, c.Verdict, c.Reason, c.Metric, r.Blocks)
		if c.Verdict != verdict.Better && (decidable || c.Verdict != verdict.Inconclusive) {
			t.Errorf("%s is %s (%s), want Better: %+v", c.Implementation, c.Verdict, c.Reason, r)
		}
	}
}
