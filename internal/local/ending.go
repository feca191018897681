package local

import (
	"context"
	"fmt"
	"math"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

func (r *Run) report(ctx context.Context) (progress.Ending, error) {
	e, err := r.publish(ctx, r.manifest())
	if err != nil {
		return e, err
	}
	r.reported = true
	return e, r.remember()
}

// ended handles the premature end of a run. It reports what was stored.
func (r *Run) ended(ctx context.Context, e *conduct.Ending) (progress.Ending, error) {
	if !r.facts.Partial() {
		return progress.Ending{Outcome: r.facts.Outcome(e, nil)}, nil
	}
	of := r.record()
	of.Ending = e
	m := r.facts.Manifest(of)
	m.Started = r.started.UTC()
	out, err := r.publish(ctx, m)
	out.Outcome = r.facts.Outcome(e, out.Verdict)
	return out, err
}

func (r *Run) interrupted(ctx context.Context) (progress.Ending, error) {
	complete := r.complete()
	if complete == 0 {
		return progress.Ending{Interrupted: true}, nil
	}
	m := conduct.UpTo(r.manifest(), complete)
	m.Notes = append(m.Notes, fmt.Sprintf("the run was interrupted after %d complete blocks of %d: it is reported as far as it was measured", complete, r.facts.Plan.Blocks))
	ending, err := r.publish(ctx, m)
	ending.Interrupted = true
	return ending, err
}

// complete returns the last block whose trials, and those before, have all ended.
func (r *Run) complete() int32 {
	last := int32(math.MaxInt32)
	var highest int32
	for _, t := range r.facts.Trials {
		if t.Follows() {
			continue
		}
		highest = max(highest, t.Block)
		if t.Ended.IsZero() {
			last = min(last, t.Block-1)
		}
	}
	return min(last, highest)
}

func (r *Run) publish(ctx context.Context, m record.RunManifest) (progress.Ending, error) {
	stored, err := r.folder.PutJSON(ctx, artifact.ManifestKey(r.prefix), m)
	if err != nil {
		return progress.Ending{}, err
	}
	return r.makeReport(ctx, stored.SHA256)
}

func (r *Run) makeReport(ctx context.Context, sha string) (progress.Ending, error) {
	var e progress.Ending
	made, err := publish.Report(ctx, r.folder, r.prefix, sha)
	if err != nil {
		return e, err
	}
	e.Report, e.Gated, e.Verdict = r.folder.URI(made.Page.Key), len(r.facts.Plan.Objectives) > 0, &made.Verdict
	e.Counts = made.Table.Counts()
	e.Outcome = r.facts.Outcome(nil, e.Verdict)
	return e, nil
}

func (r *Run) tellMeasured(ctx context.Context, t *conduct.Trial) error {
	data, err := r.folder.LoadTrials(ctx, r.prefix, record.RunManifest{Trials: []record.TrialEntry{{PlannedTrial: t.PlannedTrial, Manifest: t.Stored}}})
	if err != nil {
		return err
	}
	for _, d := range data.Trials {
		results := progress.Results(d)
		if !t.Follows() {
			one := record.RunData{Manifest: conduct.SoFar(d.Manifest.Run, r.facts.Plan.Plan, []record.TrialData{d}), Trials: []record.TrialData{d}}
			table, err := analysis.Analyse(one)
			if err != nil {
				return fmt.Errorf("checking the cells of trial %s: %w", t.Name, err)
			}
			results = progress.Marked(results, table, d)
		}
		r.tell(progress.Event{Kind: progress.EventMeasured, Trial: &t.PlannedTrial, Results: results})
	}
	return nil
}
