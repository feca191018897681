// Package oracles says what must be true of a run that has ended, whatever befell it: nothing of it is lost without a cause, nothing is stored twice
// or spoilt, nobody is blamed, and no winner is wrong. The end-to-end tests ask it on a cluster under faults; tests of its own see to it that it
// notices what it is there for.
package oracles

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Fault is something that went wrong on the cluster, from its begin to the time at which it is over, its consequences included.
type Fault struct {
	Began, Over time.Time
	// Costly is true if it may cost the trial that is measured. Since one is measured at a time, it costs one at most.
	Costly bool
}

// Kill is the end that somebody else has put to a pod of an attempt at a trial, or to its processes.
type Kill struct {
	Trial   string
	Attempt int32
	At      time.Time
}

// Run is a run of Sweeps that has ended, as its status and its store show it.
type Run struct {
	// Reason is that of its condition Succeeded.
	Reason string
	// Began and Ended are when its turn came and when it was over.
	Began, Ended time.Time
	// Data is what was read back of it.
	Data record.RunData
	// Committed counts the manifests that the store holds of each trial, over all attempts at it.
	Committed map[string]int
	// Slow is the implementation that costs several times as much as the baseline; empty if all are equal.
	Slow string
}

// Verdict is what a run says of who is better, as far as it can be known to be right.
type Verdict int

const (
	// Undecided runs name no winner, and had too few whole blocks for one, or no winner to find.
	Undecided Verdict = iota
	// Right runs have found the slow implementation.
	Right
)

// Check names everything of a run that must not be, under faults and kills, and says whether it has found what there was to find.
func (r Run) Check(faults []Fault, kills []Kill) (Verdict, []string) {
	wrong := slices.Concat(r.ending(faults), r.lacking(), r.cells(), r.once(), r.killed(kills))
	table, err := analysis.Analyse(r.Data)
	if err != nil {
		return Undecided, append(wrong, fmt.Sprintf("it cannot be analysed: %s", err))
	}
	found, winners := r.verdict(table)
	return found, slices.Concat(wrong, r.blamed(table), winners)
}

// Whole counts the blocks that nothing from outside has disturbed: a verdict asks for verdict.MinBlocks of them.
func Whole(data record.RunData, table analysis.Table) int {
	hit := table.DisturbedBlocks()
	for _, m := range table.Coverage.Missing {
		hit = append(hit, m.Block)
	}
	slices.Sort(hit)
	return int(data.Manifest.Blocks+data.Manifest.RepeatBlocks) - len(slices.Compact(hit))
}

// lost are the trials of which nothing is stored.
func (r Run) lost() []record.TrialEntry {
	return slices.DeleteFunc(slices.Clone(r.Data.Manifest.Trials), func(e record.TrialEntry) bool { return e.Manifest != nil })
}

// ending checks the reason. A run is measured and reported, whatever is away for a while; only trials that faults have cost it may leave it with
// too few blocks, and only if no repeat block was left.
func (r Run) ending(faults []Fault) []string {
	costly := 0
	for _, f := range faults {
		if f.Costly && f.Began.Before(r.Ended) && f.Over.After(r.Began) {
			costly++
		}
	}
	var wrong []string
	lost := len(r.lost())
	if lost > costly {
		wrong = append(wrong, fmt.Sprintf("%d trials are lost to %d faults that may cost one", lost, costly))
	}
	m := r.Data.Manifest
	switch {
	case r.Reason == v1alpha1.ReasonDone:
	case r.Reason != v1alpha1.ReasonTrialsFailed || lost == 0:
		wrong = append(wrong, fmt.Sprintf("no fault explains %s: %d trials are lost", r.Reason, lost))
	case m.RepeatBlocks < plan.RepeatBlocks(m.Plan.Blocks):
		wrong = append(wrong, fmt.Sprintf("%s after %d repeat blocks of %d", r.Reason, m.RepeatBlocks, plan.RepeatBlocks(m.Plan.Blocks)))
	}
	return wrong
}

// lacking checks that there is a repeat block for each block that lacks a trial, as long as there may be another.
func (r Run) lacking() []string {
	var blocks []int32
	for _, e := range r.lost() {
		blocks = append(blocks, e.Block)
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	m := r.Data.Manifest
	if int(m.RepeatBlocks) < len(blocks) && m.RepeatBlocks < plan.RepeatBlocks(m.Plan.Blocks) {
		return []string{fmt.Sprintf("the blocks %v lack trials, and %d blocks were repeated", blocks, m.RepeatBlocks)}
	}
	return nil
}

// cells checks that the record has one trial of each implementation in each block, as a run that nothing befell has: those of the plan by their
// names.
func (r Run) cells() []string {
	type cell struct {
		block          int32
		implementation string
	}
	m := r.Data.Manifest
	open := map[cell]int{}
	for block := int32(1); block <= m.Plan.Blocks+m.RepeatBlocks; block++ {
		for _, i := range m.Plan.Implementations {
			open[cell{block, i.Name}] = 1
		}
	}
	named := map[string]record.PlannedTrial{}
	for _, e := range m.Trials {
		open[cell{e.Block, strings.Join(e.Servers, " ")}]--
		named[e.Name] = e.PlannedTrial
	}
	var wrong []string
	for c, n := range open {
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("the record has %d trials of %s in block %d", 1-n, c.implementation, c.block))
		}
	}
	for _, t := range m.Plan.Trials {
		if got, there := named[t.Name]; there && (got.Block != t.Block || !slices.Equal(got.Servers, t.Servers)) {
			wrong = append(wrong, fmt.Sprintf("%s is recorded as of %v in block %d", t.Name, got.Servers, got.Block))
		} else if !there {
			wrong = append(wrong, fmt.Sprintf("%s was planned, and is not in the record", t.Name))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// once checks that what the record calls stored can be read back, and that one attempt at it was committed.
func (r Run) once() []string {
	read := map[string]int{}
	for _, t := range r.Data.Trials {
		read[t.Manifest.Name]++
	}
	var wrong []string
	if r.Data.Lost != "" {
		wrong = append(wrong, "stored trials cannot be read any more: "+r.Data.Lost)
	}
	for _, e := range r.Data.Manifest.Trials {
		if committed := r.Committed[e.Name]; committed > 1 || e.Manifest != nil && committed == 0 {
			wrong = append(wrong, fmt.Sprintf("the store holds %d manifests of %s", committed, e.Name))
		}
		want := 0
		if e.Manifest != nil {
			want = 1
		}
		if read[e.Name] != want {
			wrong = append(wrong, fmt.Sprintf("%s is read back %d times, want %d", e.Name, read[e.Name], want))
		}
		delete(read, e.Name)
	}
	for name := range read {
		wrong = append(wrong, fmt.Sprintf("%s is read back, and not in the record", name))
	}
	return wrong
}

// killed checks that nothing is stored of an attempt of which a pod was killed before the end of its last cell, nor of one that had been given up
// for another.
func (r Run) killed(kills []Kill) []string {
	var wrong []string
	for _, t := range r.Data.Trials {
		end := t.Manifest.Start.Add(timetable.End(timetable.Of(t.Manifest.Cells)))
		for _, k := range kills {
			if k.Trial == t.Manifest.Name && (k.Attempt > t.Manifest.Attempt || k.Attempt == t.Manifest.Attempt && k.At.Before(end)) {
				wrong = append(wrong, fmt.Sprintf("attempt %d at %s is stored, which lasted until %s; a pod of attempt %d was killed at %s", t.Manifest.Attempt, k.Trial, end, k.Attempt, k.At))
			}
		}
	}
	return wrong
}

// blamed checks that no fault is held against an implementation, by the reason of a trial or of a cell.
func (r Run) blamed(table analysis.Table) []string {
	var wrong []string
	for _, e := range r.lost() {
		if v1alpha1.OriginOf(e.Reason) != v1alpha1.OriginInfrastructure {
			wrong = append(wrong, fmt.Sprintf("%s is lost for a reason that is not the infrastructure's: %s: %s", e.Name, e.Reason, e.Message))
		}
	}
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			if c.ImplementationFailure() {
				wrong = append(wrong, fmt.Sprintf("%s is blamed for a cell of %s: %+v", g.Implementation, c.Trial, c.Reasons))
			}
		}
	}
	return wrong
}

// verdict checks that no comparison has a wrong winner, and that the slow implementation is found where blocks enough are whole.
func (r Run) verdict(table analysis.Table) (Verdict, []string) {
	found, decidable := Undecided, Whole(r.Data, table) >= verdict.MinBlocks
	var wrong []string
	for _, c := range table.Comparisons {
		switch slow := c.Implementation == r.Slow; {
		case c.Verdict == verdict.Better, c.Verdict == verdict.Worse && !slow, c.Verdict != verdict.Worse && slow && decidable:
			wrong = append(wrong, fmt.Sprintf("%s is %s (%s) by %s in %d blocks, and %q is the slow one", c.Implementation, c.Verdict, c.Reason, c.Metric, c.Deciding().Blocks, r.Slow))
		case c.Verdict == verdict.Worse:
			found = Right
		}
	}
	return found, wrong
}
