package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

// valuesWithin bounds how long the values of a trial are waited for: the run goes on, and is followed, without them.
const valuesWithin = 20 * time.Second

// values are what the trials of a run have measured, as they are read from the store while the run is followed. Where they cannot be read that is
// said once.
type values struct {
	open func(context.Context) (*Stored, error)
	note func(string)
	in   *Stored
	said bool
	// results are those of trials, by their names: each that has ended is read once. trials are those of blocks.
	results map[string][]progress.Result
	trials  []record.TrialData
	// codes are those of what has disturbed the blocks that the status has named, by block.
	disturbed []int32
	codes     map[int32][]string
}

// read reads the trials that have ended since, and returns the codes of what has disturbed blocks, as far as they are known.
func (v *values) read(ctx context.Context, s facts.Sight) map[int32][]string {
	if v.open == nil || v.said {
		return v.codes // A store that did not answer once would hold up what else is told.
	}
	for i := range s.Trials {
		t := &s.Trials[i]
		if _, seen := v.results[t.Name]; seen || t.Status.CompletionTime == nil || t.Status.ManifestKey == "" {
			continue
		}
		d, err := v.trial(ctx, s.Run, t)
		v.results[t.Name] = nil
		if err != nil {
			v.missing(ctx, err)
			continue
		}
		v.results[t.Name] = progress.Results(d)
		if !d.Manifest.Follows() {
			v.trials = append(v.trials, d)
		}
	}
	if blocks := s.Run.Status.Repeats.DisturbedBlocks; len(v.trials) > 0 && !slices.Equal(blocks, v.disturbed) {
		v.disturbed = blocks
		table, err := v.table(ctx, s.Run)
		if err != nil {
			v.missing(ctx, err)
		}
		v.codes = progress.Codes(table)
	}
	return v.codes
}

// trial reads a trial of a run.
func (v *values) trial(ctx context.Context, r *v1alpha1.BenchmarkRun, t *v1alpha1.Trial) (record.TrialData, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesWithin)
	defer cancel()
	if v.in == nil {
		in, err := v.open(ctx)
		if err != nil {
			return record.TrialData{}, err
		}
		in.note = v.note
		in.Know(r)
		v.in = in
	}
	return artifact.LoadTrial(ctx, v.in, record.Artifact{Key: t.Status.ManifestKey, SHA256: t.Status.ManifestSHA256})
}

// table is what follows from the trials that were read, as the operator's own scan makes it.
func (v *values) table(ctx context.Context, r *v1alpha1.BenchmarkRun) (analysis.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesWithin)
	defer cancel()
	body, err := v.in.Get(ctx, artifact.PlanKey(download.PrefixOf(r)), "")
	if err != nil {
		return analysis.Table{}, err
	}
	var p record.Plan
	if err := json.Unmarshal(body, &p); err != nil {
		return analysis.Table{}, fmt.Errorf("decoding the plan: %w", err)
	}
	return publish.Analyse(record.RunData{Manifest: conduct.SoFar(v.trials[0].Manifest.Run, p, v.trials), Trials: v.trials})
}

// missing says, once, that values are not shown. Somebody who has ended the command knows.
func (v *values) missing(ctx context.Context, err error) {
	if v.said || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	v.said = true
	v.note(fmt.Sprintf("results are shown only in the report, because reading them failed: %v", err))
}

func (v *values) close() {
	if v.in != nil {
		v.in.Close()
	}
}
