// Package oracles checks ended runs under all faults. Nothing may be lost without a cause, stored twice or corrupted. No implementation may be blamed
// for a fault, and no winner may be wrong. End-to-end tests use it on a cluster.
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

// Fault is a fault of the cluster, from its start until its consequences end.
type Fault struct {
	Began, Over time.Time
	// Costly is true if it may cost the current trial. It costs at most one, because one is measured at a time.
	Costly bool
}

// Kill is when someone killed a pod of an attempt at a trial, or its processes.
type Kill struct {
	Trial   string
	Attempt int32
	At      time.Time
}

// Run is an ended run of Sweeps, as its status and store show it.
type Run struct {
	// Reason is that of its condition Succeeded.
	Reason string
	// Began and Ended are the start and end of its turn.
	Began, Ended time.Time
	// Data is the stored record.
	Data record.RunData
	// Committed counts the stored manifests of each trial, over all attempts.
	Committed map[string]int
	// Slow is an implementation that costs several times the baseline; empty if all are equal.
	Slow string
}

// Verdict classifies a run's result, as far as it can be known to be right.
type Verdict int

const (
	// Undecided runs name no winner: there were too few complete blocks, or no difference.
	Undecided Verdict = iota
	// Right runs have found the slow implementation.
	Right
)

// Check lists all violations under faults and kills, and says whether the winner was found.
func (r Run) Check(faults []Fault, kills []Kill) (Verdict, []string) {
	wrong := slices.Concat(r.ending(faults), r.lacking(), r.cells(), r.once(), r.killed(kills))
	table, err := analysis.Analyse(r.Data)
	if err != nil {
		return Undecided, append(wrong, fmt.Sprintf("it cannot be analysed: %s", err))
	}
	found, winners := r.verdict(table)
	return found, slices.Concat(wrong, r.blamed(table), winners)
}

// Whole counts undisturbed blocks. A verdict needs verdict.MinBlocks.
func Whole(data record.RunData, table analysis.Table) int {
	hit := table.DisturbedBlocks()
	for _, m := range table.Coverage.Missing {
		hit = append(hit, m.Block)
	}
	slices.Sort(hit)
	return int(data.Manifest.Blocks+data.Manifest.RepeatBlocks) - len(slices.Compact(hit))
}

// lost returns the trials without stored results.
func (r Run) lost() []record.TrialEntry {
	return slices.DeleteFunc(slices.Clone(r.Data.Manifest.Trials), func(e record.TrialEntry) bool { return e.Manifest != nil })
}

// ending checks the reason. A run is measured and reported despite outages. It may have too few blocks only because of faults, and only after all
// repeat blocks.
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

// lacking checks that each incomplete block has a repeat block, up to the limit.
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

// cells checks that the record has one trial per implementation and block, with the plan's names.
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

// once checks that every stored trial is readable and was committed by one attempt.
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

// killed checks that no abandoned attempt is stored, and none with a pod that was killed before the end of its last cell.
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

// blamed checks that no fault is attributed to an implementation, in reasons of trials and cells.
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

// verdict checks that no winner is wrong, and that the slow implementation is found if there are enough complete blocks.
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
