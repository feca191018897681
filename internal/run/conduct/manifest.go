package conduct

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// RunRecord holds the parts of a run's manifest that a Run does not know.
type RunRecord struct {
	Run  record.Run
	Spec any
	// Scripts are as frozen.
	Scripts []record.FrozenScript
	// Bodies are as frozen.
	Bodies []record.FrozenBody
	// ConfigMaps are as of the start of the run.
	ConfigMaps []record.ConfigMap
	// Notes are the backend's sentences on the run.
	Notes []string
	// Ending is why the run ended early; nil if it did not.
	Ending *Ending
	// Operator is the version of the leading program.
	Operator string
}

// Manifest returns the run's record. It is deterministic.
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
		m.Notes = append(m.Notes, fmt.Sprintf("this record is partial, because the run ended early (%s): %s", of.Ending.Reason, of.Ending.Message))
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

// InterimManifest returns the record for an interim analysis after a block.
func (r Run) InterimManifest(of RunRecord, block int32) record.RunManifest {
	m := r.Manifest(of)
	m.Blocks = block
	return m
}

// UpTo returns a run's record up to a block. Trials after the blocks stay.
func UpTo(m record.RunManifest, last int32) record.RunManifest {
	m.Blocks, m.RepeatBlocks = min(m.Blocks, last), min(m.RepeatBlocks, Repeats(m.Plan.Blocks, last))
	m.Trials = slices.DeleteFunc(slices.Clone(m.Trials), func(t record.TrialEntry) bool { return t.Block > last })
	return m
}

// SoFar returns the record of a run in progress, from the trials that a reader has seen.
func SoFar(run record.Run, p record.Plan, trials []record.TrialData) record.RunManifest {
	m := record.RunManifest{Schema: record.RunManifestSchema, Run: run, Plan: p, Blocks: p.Blocks}
	for _, t := range trials {
		m.Trials = append(m.Trials, record.TrialEntry{PlannedTrial: t.Manifest.PlannedTrial})
		m.RepeatBlocks = max(m.RepeatBlocks, Repeats(p.Blocks, t.Manifest.Block))
	}
	return m
}

func (t *Trial) entry() record.TrialEntry {
	e := record.TrialEntry{PlannedTrial: t.PlannedTrial, Manifest: t.Stored}
	if t.Stored == nil {
		e.Reason, e.Message = t.Reason, t.Message
	}
	return e
}

// TrialRecord holds the parts of a trial's manifest that a Trial does not know.
type TrialRecord struct {
	Run record.Run
	// Failures say why earlier attempts were given up.
	Attempt  int32
	Failures []string
	// Pods are where its members ran.
	Pods []record.PodRecord
	// Operator is the version of the leading program.
	Operator string
}

// Manifest returns the record of a measured trial, without artifacts and clocks.
func (t Trial) Manifest(of TrialRecord) record.TrialManifest {
	m := record.TrialManifest{
		Schema: record.TrialManifestSchema, Run: of.Run, PlannedTrial: t.PlannedTrial, Attempt: of.Attempt, Failures: of.Failures,
		Start: t.Started.UTC(), Pods: of.Pods, Operator: of.Operator,
	}
	t.Work.Describe(&m)
	return m
}
