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

// valuesWithin bounds the wait for a trial's values. The run is followed without them.
const valuesWithin = 20 * time.Second

// values are the followed run's trial results, read from the store. If they cannot be read, this is reported once.
type values struct {
	open func(context.Context) (*Stored, error)
	note func(string)
	in   *Stored
	said bool
	// results are by trial, each read once after its end; trials are those of blocks.
	results map[string][]progress.Result
	trials  []record.TrialData
	// plan is read once; nil before.
	plan *record.Plan
	// codes are the causes of disturbance, by block, for the blocks in disturbed (from the status).
	disturbed []int32
	codes     map[int32][]string
}

// read reads newly ended trials, and returns the known causes of disturbed blocks.
func (v *values) read(ctx context.Context, s facts.Sight) map[int32][]string {
	if v.open == nil || v.said {
		return v.codes // Retrying an unresponsive store would delay other events.
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
		if d.Manifest.Follows() {
			continue
		}
		v.trials = append(v.trials, d)
		if alone, err := v.table(ctx, s.Run, []record.TrialData{d}); err != nil {
			v.missing(ctx, err)
		} else {
			v.results[t.Name] = progress.Marked(v.results[t.Name], alone, d)
		}
	}
	if blocks := s.Run.Status.Repeats.DisturbedBlocks; len(v.trials) > 0 && !slices.Equal(blocks, v.disturbed) {
		v.disturbed = blocks
		table, err := v.table(ctx, s.Run, v.trials)
		if err != nil {
			v.missing(ctx, err)
		}
		v.codes = progress.Codes(table)
	}
	return v.codes
}

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

func (v *values) table(ctx context.Context, r *v1alpha1.BenchmarkRun, trials []record.TrialData) (analysis.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesWithin)
	defer cancel()
	if v.plan == nil {
		body, err := v.in.Get(ctx, artifact.PlanKey(download.PrefixOf(r)), r.Status.PlanHash)
		if err != nil {
			return analysis.Table{}, err
		}
		var p record.Plan
		if err := json.Unmarshal(body, &p); err != nil {
			return analysis.Table{}, fmt.Errorf("decoding the plan: %w", err)
		}
		v.plan = &p
	}
	return publish.Analyse(record.RunData{Manifest: conduct.SoFar(trials[0].Manifest.Run, *v.plan, trials), Trials: trials})
}

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
