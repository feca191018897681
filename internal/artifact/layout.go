package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"loadstone.dev/loadstone/internal/kind/kinds"
	"loadstone.dev/loadstone/internal/record"
)

// RunPrefix is where everything of a run lies: PREFIX/NAMESPACE/NAME-UID8. The UID keeps runs of one name apart.
func RunPrefix(prefix string, run record.Run) string {
	return path.Join(prefix, run.Namespace, run.Name+"-"+run.UID[:min(8, len(run.UID))])
}

// TrialPrefix is where the files of one attempt at a trial lie.
func TrialPrefix(runPrefix, trial string, attempt int32) string {
	return path.Join(runPrefix, "trials", trial, fmt.Sprintf("attempt-%d", attempt))
}

// PlanKey is the key of the compiled plan of a run.
func PlanKey(runPrefix string) string { return path.Join(runPrefix, "plan.json") }

// ScriptKey is the key of the script of a load, as a run has frozen it.
func ScriptKey(runPrefix, load string) string { return path.Join(runPrefix, "scripts", load) }

// ManifestKey is the key of the manifest below a run's or a trial's prefix.
func ManifestKey(prefix string) string { return path.Join(prefix, "manifest.json") }

// ReportKey is the key of a report file. Its digest is part of it, so that a report made again by a newer version lies
// beside the older one.
func ReportKey(runPrefix, sha, file string) string {
	return path.Join(runPrefix, "reports", sha[:12], file)
}

// PutJSON writes a value as JSON, once.
func (s *Store) PutJSON(ctx context.Context, key string, v any) (record.Artifact, error) {
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return record.Artifact{}, fmt.Errorf("encoding %s: %w", key, err)
	}
	return s.Put(ctx, key, "application/json", body)
}

func (s *Store) getJSON(ctx context.Context, key, sha string, into any) error {
	body, err := s.Get(ctx, key, sha)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decoding %s: %w: %w", s.URI(key), ErrMalformed, err)
	}
	return nil
}

// Load reads all that a report is made from, beginning with the run's manifest and checking every digest on the way.
func (s *Store) Load(ctx context.Context, runPrefix string) (record.RunData, error) {
	var d record.RunData
	if err := s.getJSON(ctx, ManifestKey(runPrefix), "", &d.Manifest); err != nil {
		return d, err
	}
	if d.Manifest.Schema != record.RunManifestSchema {
		return d, s.otherSchema(ManifestKey(runPrefix), d.Manifest.Schema, record.RunManifestSchema)
	}
	return s.LoadTrials(ctx, d.Manifest)
}

// LoadTrials reads the trials that a run's manifest names, which need not be stored yet.
func (s *Store) LoadTrials(ctx context.Context, m record.RunManifest) (record.RunData, error) {
	d := record.RunData{Manifest: m}
	for _, entry := range m.Trials {
		if entry.Manifest == nil {
			continue
		}
		t, err := s.loadTrial(ctx, *entry.Manifest)
		if err != nil {
			return d, err
		}
		d.Trials = append(d.Trials, t)
	}
	return d, nil
}

func (s *Store) loadTrial(ctx context.Context, manifest record.Artifact) (record.TrialData, error) {
	var t record.TrialData
	if err := s.getJSON(ctx, manifest.Key, manifest.SHA256, &t.Manifest); err != nil {
		return t, err
	}
	if t.Manifest.Schema != record.TrialManifestSchema {
		return t, s.otherSchema(manifest.Key, t.Manifest.Schema, record.TrialManifestSchema)
	}
	kind, ok := kinds.All[t.Manifest.Type]
	if !ok {
		return t, fmt.Errorf("reading %s: %w: no kind of work is called %q", s.URI(manifest.Key), ErrSchema, t.Manifest.Type)
	}
	results := map[string]json.RawMessage{}
	for _, a := range t.Manifest.Artifacts {
		if a.Name != record.ResultFile {
			continue
		}
		body, err := s.Get(ctx, a.Key, a.SHA256)
		if err != nil {
			return t, err
		}
		results[a.Member] = body
	}
	if err := kind.Decode(results, &t); err != nil {
		return t, fmt.Errorf("reading %s: %w: %w", s.URI(manifest.Key), ErrMalformed, err)
	}
	t.Rows = kind.Rows(t)
	return t, nil
}

// otherSchema is the error of a manifest that was written by another version.
func (s *Store) otherSchema(key, is, want string) error {
	return fmt.Errorf("reading %s: %w: its schema is %q, and this version reads %q: use the version that wrote it, or the report that it stored", s.URI(key), ErrSchema, is, want)
}
