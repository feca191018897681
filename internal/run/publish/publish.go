// Package publish makes a run's report from the object store (the run, the earlier runs of its objectives, and its
// machine's noise floor) and stores it. Operator and command line share it, so a repeated report is identical.
package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// Outcome is a run's table and its report in every form, the page first.
type Outcome struct {
	Table analysis.Table
	Files []report.File
}

// ErrReport: a retry would fail in the same way.
var ErrReport = errors.New("making the report")

// Make reads a run and makes its report. sha is the digest of its manifest; empty if nothing has recorded it.
func Make(ctx context.Context, store artifact.Runs, runPrefix, sha string) (Outcome, error) {
	var o Outcome
	data, err := Read(ctx, store, runPrefix, sha)
	if err != nil {
		return o, err
	}
	if o.Table, err = guarded(analysis.Spend, data); err != nil {
		return o, err
	}
	err = compute(func() error {
		o.Files, err = report.Files(o.Table)
		return err
	})
	return o, err
}

// Analyse makes the table of a run. Its error is an ErrReport.
func Analyse(data record.RunData) (analysis.Table, error) { return guarded(analysis.Analyse, data) }

func guarded(analyse func(record.RunData) (analysis.Table, error), data record.RunData) (table analysis.Table, err error) {
	err = compute(func() error {
		table, err = analyse(data)
		return err
	})
	return table, err
}

// compute turns errors and panics into ErrReport: the input is fixed, so a retry cannot help.
func compute(something func() error) error {
	if err := util.Guard(something); err != nil {
		return fmt.Errorf("%w: %w", ErrReport, err)
	}
	return nil
}

// Put stores a report's files in a folder named by their common digest, and returns the first file's place. That file
// is written last, so if it exists, the others do.
func Put(ctx context.Context, store artifact.Writer, runPrefix string, files []report.File) (record.Artifact, error) {
	page, others := files[0], files[1:]
	all := sha256.New()
	for _, f := range files {
		sum := sha256.Sum256(f.Body)
		all.Write(sum[:])
	}
	folder := hex.EncodeToString(all.Sum(nil))
	for _, f := range others {
		if _, err := store.Put(ctx, artifact.ReportKey(runPrefix, folder, f.Name), f.ContentType, f.Body); err != nil {
			return record.Artifact{}, err
		}
	}
	return store.Put(ctx, artifact.ReportKey(runPrefix, folder, page.Name), page.ContentType, page.Body)
}

// Reported is a stored report: its page, table and verdict.
type Reported struct {
	Page    record.Artifact
	Table   analysis.Table
	Verdict conduct.Verdict
}

// Report makes and stores the report of a run, with its noise floor if it found one. sha is as for Make.
func Report(ctx context.Context, store artifact.Objects, runPrefix, sha string) (Reported, error) {
	o, err := Make(ctx, store, runPrefix, sha)
	if err != nil {
		return Reported{}, err
	}
	if _, err := store.Put(ctx, artifact.MadeKey(runPrefix), "text/plain", []byte("the report was made\n")); err != nil {
		return Reported{}, err
	}
	if o.Table.Calibrates() {
		key := artifact.CalibrationKey(o.Table.Run.Namespace, o.Table.Fingerprint, o.Table.Run.UID)
		if _, err := store.PutJSON(ctx, key, o.Table.NoiseFloor); err != nil && !errors.Is(err, artifact.ErrExists) {
			return Reported{}, err
		}
	}
	page, err := Put(ctx, store, runPrefix, o.Files)
	if err != nil {
		return Reported{}, err
	}
	made := Reported{Page: page, Table: o.Table, Verdict: conduct.Verdict{Text: report.Line(o.Table.Headline()), Short: report.Short(o.Table.Headline())}}
	made.Verdict.Conclusive, made.Verdict.Reason = o.Table.Conclusive()
	if met, reason := o.Table.ObjectivesMet(); !met {
		made.Verdict.Unmet, made.Verdict.Objectives = reason, report.ObjectivesLine(o.Table)
	}
	return made, nil
}

// Once stores a manifest. An existing one is kept: an operator, perhaps of another version, wrote it and ended before
// it could record that.
func Once(ctx context.Context, store artifact.Bucket, key string, manifest any) (record.Artifact, error) {
	stored, err := store.PutJSON(ctx, key, manifest)
	if errors.Is(err, artifact.ErrExists) {
		return store.Find(ctx, key)
	}
	return stored, err
}

// PutPlan stores a run's plan and checks the store.
func PutPlan(ctx context.Context, store artifact.Bucket, runPrefix string, p plan.Plan) error {
	return artifact.Prove(ctx, store, artifact.PlanKey(runPrefix), "application/json", p.JSON())
}

// Plan reads a run's stored plan. hash is its SHA-256; empty if unknown.
func Plan(ctx context.Context, store artifact.Runs, runPrefix, hash string) (plan.Plan, error) {
	key := artifact.PlanKey(runPrefix)
	raw, err := store.Get(ctx, key, hash)
	if err != nil {
		return plan.Plan{}, err
	}
	var p plan.Plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return plan.Plan{}, fmt.Errorf("reading %s: %w: %w", key, artifact.ErrMalformed, err)
	}
	return p, nil
}

// Trial reads the manifest of a trial.
func Trial(ctx context.Context, store artifact.Bucket, key string) (record.TrialManifest, record.Artifact, error) {
	var m record.TrialManifest
	stored, err := store.Find(ctx, key)
	if err != nil {
		return m, stored, err
	}
	raw, err := store.Get(ctx, key, stored.SHA256)
	if err != nil {
		return m, stored, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, stored, fmt.Errorf("reading %s: %w: %w", key, artifact.ErrMalformed, err)
	}
	return m, stored, nil
}

// TrialIn reads a trial's manifest from the first attempt with one. It skips unreadable manifests and denied access
// (the answer for missing objects without list permission), but not an unavailable store.
func TrialIn(ctx context.Context, store artifact.Bucket, runPrefix, trial string, from, attempts int32) (m record.TrialManifest, stored record.Artifact, err error) {
	for attempt := from; attempt < from+attempts; attempt++ {
		if m, stored, err = Trial(ctx, store, artifact.ManifestKey(artifact.TrialPrefix(runPrefix, trial, attempt))); err == nil || !artifact.Unreadable(err) && !errors.Is(err, artifact.ErrDenied) {
			return m, stored, err
		}
	}
	return m, stored, err
}

// Read reads everything that a report needs. sha is as for Make.
func Read(ctx context.Context, store artifact.Runs, runPrefix, sha string) (record.RunData, error) {
	data, err := store.Load(ctx, runPrefix, sha)
	if err != nil {
		return data, err
	}
	if data.Earlier, err = earlier(ctx, store, data); err != nil {
		return data, err
	}
	floor, err := calibration(ctx, store, data.Manifest.Run.Namespace, environment.Fingerprint(data))
	if errors.Is(err, artifact.ErrMalformed) {
		// The noise floor is the machine's and may be of another version, so no run fails for it.
		data.Manifest.Notes, err = append(slices.Clone(data.Manifest.Notes), "no noise floor is known: "+err.Error()), nil
	}
	data.Calibration = floor
	return data, err
}

// earlier reads the runs that objectives name. A missing, invalid or partial one leaves its objectives undecided;
// other errors are the store's and may be temporary.
func earlier(ctx context.Context, store artifact.Runs, data record.RunData) (map[string]record.EarlierRun, error) {
	var out map[string]record.EarlierRun
	for _, past := range earlierRuns(data.Manifest.Plan.Objectives) {
		of := identity(data.Manifest.Run.Namespace, past)
		run, err := store.Load(ctx, artifact.RunPrefix(past.Prefix, of), past.ManifestSHA256)
		e := record.EarlierRun{Data: &run}
		switch {
		case err != nil && !artifact.Unreadable(err):
			return nil, err
		case err != nil:
			e = record.EarlierRun{Error: err.Error()}
		case !same(run.Manifest.Run, of):
			e = record.EarlierRun{Error: fmt.Sprintf("the record of run %s with UID %s is of another run", past.Name, past.UID)}
		case run.Lost != "":
			e = record.EarlierRun{Error: run.Lost}
		}
		if out == nil {
			out = map[string]record.EarlierRun{}
		}
		out[past.UID] = e
	}
	return out, nil
}

// identity returns an earlier run. Its namespace is the one of the run that is compared with it, so no run of another
// namespace can be named.
func identity(namespace string, past v1alpha1.PastRun) record.Run {
	return record.Run{Namespace: namespace, Name: past.Name, UID: past.UID}
}

func same(a, b record.Run) bool {
	return a.Namespace == b.Namespace && a.Name == b.Name && a.UID == b.UID
}

// EarlierSizes returns the sizes of the earlier runs of a plan's objectives, from their manifests. It leaves out
// unreadable ones, whose objectives stay undecided. Other errors are the store's and may be temporary.
func EarlierSizes(ctx context.Context, store artifact.Reader, namespace string, p plan.Plan) ([]plan.Stored, error) {
	var out []plan.Stored
	for _, past := range earlierRuns(p.Objectives) {
		m, err := artifact.LoadManifest(ctx, store, artifact.RunPrefix(past.Prefix, identity(namespace, past)), past.ManifestSHA256)
		switch {
		case err == nil:
			out = append(out, plan.StoredOf(m))
		case !artifact.Unreadable(err):
			return nil, err
		}
	}
	return out, nil
}

func earlierRuns(objectives []record.Objective) []v1alpha1.PastRun {
	var out []v1alpha1.PastRun
	for _, o := range objectives {
		if o.Against != nil {
			out = append(out, o.Against.Runs...)
		}
	}
	slices.SortFunc(out, func(a, b v1alpha1.PastRun) int { return cmp.Compare(a.UID, b.UID) })
	return slices.CompactFunc(out, func(a, b v1alpha1.PastRun) bool { return a.UID == b.UID })
}

// calibration reads a machine's newest noise floor in a namespace; nil if none. Credentials without list permission
// find none, which is fine.
func calibration(ctx context.Context, store artifact.Runs, namespace, fingerprint string) (*record.Calibration, error) {
	if fingerprint == "" {
		return nil, nil
	}
	objects, err := store.List(ctx, artifact.CalibrationFolder(namespace, fingerprint))
	if errors.Is(err, artifact.ErrDenied) {
		return nil, nil
	}
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	body, err := store.Get(ctx, objects[0].Key, "")
	if err != nil {
		return nil, err
	}
	var c record.Calibration
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("reading %s (remove it if it is of no use): %w: %w", objects[0].Key, artifact.ErrMalformed, err)
	}
	return &c, nil
}
