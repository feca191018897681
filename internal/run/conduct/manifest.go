package conduct

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// RunRecord is what a run's manifest says beside how the run was led.
type RunRecord struct {
	Run record.Run
	// Spec is what the user asked for.
	Spec any
	// Scripts are the users' scripts as they were frozen.
	Scripts []record.FrozenScript
	// Bodies are those that requests name, as they were frozen.
	Bodies []record.FrozenBody
	// ConfigMaps are those that implementations name, as they were when the run started.
	ConfigMaps []record.ConfigMap
	// Notes are what the backend has to say of the run, in sentences.
	Notes []string
	// Ending is why the run ends before everything was measured; nil if it does not.
	Ending *Ending
	// Operator is the version of what leads the run.
	Operator string
}

// Manifest is the run's record. It follows from the trials, the interim analyses and the scans: made twice it is the same.
func (r Run) Manifest(of RunRecord) record.RunManifest {
	m := record.RunManifest{
		Schema: record.RunManifestSchema, Run: of.Run, Spec: of.Spec, Plan: r.Plan.Plan, Blocks: r.Plan.Blocks, RepeatBlocks: r.Repeated(),
		Started: r.Started.UTC(), Ended: r.lastEnd().UTC(), Operator: of.Operator, Scripts: of.Scripts, Bodies: of.Bodies,
	}
	for _, c := range of.ConfigMaps {
		c.Keys = record.KeysOf(r.Plan.Implementations, c.Name)
		m.ConfigMaps = append(m.ConfigMaps, c)
	}
	m.Run.PlanHash = r.Plan.Hash()
	m.Notes = slices.Clone(of.Notes)
	if last := r.Interim.Stopped; last > 0 {
		m.Blocks = last
		m.Notes = append(m.Notes, fmt.Sprintf("the run stopped early, after block %d of %d: the deciding interval of every comparison was at most %s wide (spec.stop.maxWidth)", last, r.Plan.Blocks, r.Interim.MaxWidth))
	}
	if repeated := r.Repeated(); repeated > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("blocks %v were disturbed; repeat blocks measured beyond the planned %d: %d", r.Disturbed(), r.Plan.Blocks, repeated))
	}
	if of.Ending != nil {
		m.Notes = append(m.Notes, fmt.Sprintf("this record is partial, since the run ended before everything was measured (%s): %s", of.Ending.Reason, of.Ending.Message))
	}
	if first := r.Trials.Binding(); first != nil {
		m.Nodes, m.Notes = slices.Clone(first.Nodes), append(m.Notes, nodesNote(first))
	}
	for _, t := range r.Trials.inOrder() {
		switch {
		case !t.ended() || t.notNeeded():
		case t.Follows():
			m.Following = append(m.Following, t.entry())
		default:
			m.Trials = append(m.Trials, t.entry())
		}
	}
	return m
}

// InterimManifest is the record of what an interim analysis after a block may read.
func (r Run) InterimManifest(of RunRecord, block int32) record.RunManifest {
	m := r.Manifest(of)
	m.Blocks = block
	return m
}

// UpTo is a run's record without the blocks after one. What follows the blocks stays.
func UpTo(m record.RunManifest, last int32) record.RunManifest {
	m.Blocks, m.RepeatBlocks = min(m.Blocks, last), min(m.RepeatBlocks, Repeats(m.Plan.Blocks, last))
	m.Trials = slices.DeleteFunc(slices.Clone(m.Trials), func(t record.TrialEntry) bool { return t.Block > last })
	return m
}

// SoFar is the record of a run that goes on, as far as somebody who only reads has seen trials of its blocks.
func SoFar(run record.Run, p record.Plan, trials []record.TrialData) record.RunManifest {
	m := record.RunManifest{Schema: record.RunManifestSchema, Run: run, Plan: p, Blocks: p.Blocks}
	for _, t := range trials {
		m.Trials = append(m.Trials, record.TrialEntry{PlannedTrial: t.Manifest.PlannedTrial})
		m.RepeatBlocks = max(m.RepeatBlocks, Repeats(p.Blocks, t.Manifest.Block))
	}
	return m
}

// entry is an ended trial in its run's manifest.
func (t *Trial) entry() record.TrialEntry {
	e := record.TrialEntry{PlannedTrial: t.PlannedTrial, Manifest: t.Stored}
	if t.Stored == nil {
		e.Reason, e.Message = t.Reason, t.Message
	}
	return e
}

// TrialRecord is what a trial's manifest says beside what was planned of it.
type TrialRecord struct {
	Run record.Run
	// Attempt counts the tries at the trial, and Failures say why earlier ones were given up.
	Attempt  int32
	Failures []string
	// Pods are where its members ran, and what ran in them.
	Pods []record.PodRecord
	// Operator is the version of what leads the trial.
	Operator string
}

// Manifest is the record of a trial that was measured, without its artifacts and clocks.
func (t Trial) Manifest(of TrialRecord) record.TrialManifest {
	m := record.TrialManifest{
		Schema: record.TrialManifestSchema, Run: of.Run, PlannedTrial: t.PlannedTrial, Attempt: of.Attempt, Failures: of.Failures,
		Start: t.Started.UTC(), Pods: of.Pods, Operator: of.Operator,
	}
	t.Work.Describe(&m)
	return m
}
