package analysis_test

import (
	"slices"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// unaudited removes the evidence of checks from the first cells, in order of trials.
func unaudited(d record.RunData, cells int) record.RunData {
	for i := range d.Trials {
		for k := range d.Trials[i].Servers[0].Cells {
			if cells == 0 {
				return d
			}
			cells--
			d.Trials[i].Servers[0].Cells[k].Sockets, d.Trials[i].Generators[0].Cells[k].Audit = nil, nil
		}
	}
	return d
}

func TestARunOfSuspectCellsAloneIsNotConclusive(t *testing.T) {
	for name, tc := range map[string]struct {
		cells      int
		conclusive bool
		reason     string
		verdict    verdict.Verdict
	}{
		"no cell is suspect":     {0, true, v1alpha1.ReasonDone, verdict.Worse},
		"some cells are suspect": {7, true, v1alpha1.ReasonDone, verdict.Worse},
		"all cells are suspect":  {20, false, v1alpha1.ReasonSuspectCells, verdict.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.Duel(10)
			o.Levels, o.Servers = []int32{10}, o.Servers[:2]
			table := analyse(t, unaudited(recordtest.Run(o), tc.cells))
			e := table.Headline().Entries[0]
			if e.UsedCells != 20 || e.SuspectCells != tc.cells || tc.cells > 0 && e.SuspectReasons[0] != validity.NotChecked {
				t.Errorf("%d of %d cells are suspect (%v), want %d of 20 (NotChecked)", e.SuspectCells, e.UsedCells, e.SuspectReasons, tc.cells)
			}
			if conclusive, reason := table.Conclusive(); conclusive != tc.conclusive || reason != tc.reason || e.Verdict != tc.verdict {
				t.Errorf("%s, conclusive %v with %s, want %s, %v with %s", e.Verdict, conclusive, reason, tc.verdict, tc.conclusive, tc.reason)
			}
		})
	}
}

// uncounted marks the cells of one implementation: other processes did most of its work.
func uncounted(d record.RunData, implementation string) record.RunData {
	for i := range d.Trials {
		if d.Trials[i].Manifest.Servers[0] != implementation {
			continue
		}
		for k := range d.Trials[i].Servers[0].Cells {
			seen := &d.Trials[i].Servers[0].Cells[k]
			seen.CPUUncounted = []string{"it is connected to 127.0.0.1:5432"}
			seen.CPUNanos /= 50
		}
	}
	return d
}

func TestUncountedCPUTimeIsUnknown(t *testing.T) {
	table := analyse(t, uncounted(rated(2, 5000, 10), "go-slow"))
	c := table.Comparisons[0]
	if c.Verdict != verdict.Inconclusive || c.Reason != verdict.CPUUncounted {
		t.Errorf("%s %s, want Inconclusive CPUUncounted", c.Verdict, c.Reason)
	}
	if conclusive, _ := table.Conclusive(); conclusive {
		t.Error("it is conclusive")
	}
	for _, g := range table.Groups {
		if unknown := g.CPUPerRequest == nil; unknown != (g.Implementation == "go-slow") {
			t.Errorf("the CPU time of %s is unknown: %v", g.Implementation, unknown)
		}
		for _, cell := range g.Cells {
			for _, r := range cell.Reasons {
				if r.Code == validity.NoisyNeighbours || r.Code == validity.CPUUncounted && r.Scope != validity.ScopeCPU {
					t.Errorf("%s has %+v", g.Implementation, r)
				}
			}
		}
	}
	if codes := table.Group(c.Levels[0].Point, "go-slow").Findings; !slices.ContainsFunc(codes, func(f validity.Finding) bool { return f.Code == validity.NotChecked }) {
		t.Errorf("use of the CPUs that may be the server's or that of others counts as checked: %+v", codes)
	}
	closed := recordtest.Duel(10)
	closed.Levels, closed.Servers = []int32{10}, closed.Servers[:2]
	if c := analyse(t, uncounted(recordtest.Run(closed), "go-slow")).Comparisons[0]; c.Verdict != verdict.Inconclusive || c.Reason != verdict.SuspectCells || c.Metric != verdict.Throughput {
		t.Errorf("a closed load gives %s %s by %s: nobody checked who used the CPUs, so want Inconclusive SuspectCells by Throughput", c.Verdict, c.Reason, c.Metric)
	}
}

// A server that grows is measured as well as any other. Only its memory depends on when one looks.
func TestGrowingMemoryDoubtsOnlyTheMemory(t *testing.T) {
	o := recordtest.Duel(10)
	o.Levels, o.Servers = []int32{10}, o.Servers[:2]
	d := recordtest.Run(o)
	for i := range d.Trials {
		for k := range d.Trials[i].Servers[0].Cells {
			seen := &d.Trials[i].Servers[0].Cells[k]
			grown := 100 * d.Trials[i].Generators[0].Cells[k].Measurement.Requests
			seen.RSSStartBytes, seen.RSSMiddleBytes, seen.RSSBytes = 1<<20, 1<<20+grown/2, 1<<20+grown
		}
	}
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectivePeakMemory, Load: "sweep", Max: "1000000000000", Implementations: []string{"go"}}}
	table := analyse(t, d)
	if o := table.Objectives[0]; o.Outcome != objectives.Undecided || o.Reason != objectives.SuspectCells {
		t.Errorf("the peak of a growing server is %s (%s), want Undecided (SuspectCells)", o.Outcome, o.Reason)
	}
	if findings := table.Groups[0].Findings; !slices.ContainsFunc(findings, func(f validity.Finding) bool { return f.Code == validity.MemoryGrows }) {
		t.Fatalf("nothing grew: %+v", findings)
	}
	if e := table.Headline().Entries[0]; e.Verdict != verdict.Worse || e.SuspectCells != 0 {
		t.Errorf("%s (%s) with %d suspect cells, want Worse with none", e.Verdict, e.Reason, e.SuspectCells)
	}
}

func TestCPUTimeOfDependenciesCounts(t *testing.T) {
	d := rated(1, 5000, 10)
	for i := range d.Trials {
		if d.Trials[i].Manifest.Servers[0] == "go-slow" {
			seen := &d.Trials[i].Servers[0].Cells[0]
			seen.Dependencies = []record.DependencyUse{{Name: "db", CPUNanos: seen.CPUNanos}}
		}
	}
	c := analyse(t, d).Comparisons[0]
	if r := c.Deciding(); c.Verdict != verdict.Worse || *r.Ratio < 1.9 || *r.Ratio > 2.1 {
		t.Errorf("%s by %v, want Worse by 2", c.Verdict, *r.Ratio)
	}
}
