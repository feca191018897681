package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Reader reads objects by their keys.
type Reader interface {
	// URI is an object's address for people, without credentials.
	URI(key string) string
	// Get reads an object of at most 64 MiB and, unless sha is empty, checks its SHA-256.
	Get(ctx context.Context, key, sha string) ([]byte, error)
}

// Writer writes objects once. Rewriting the same content succeeds; other content is ErrExists.
type Writer interface {
	Put(ctx context.Context, key, contentType string, body []byte) (record.Artifact, error)
	PutJSON(ctx context.Context, key string, v any) (record.Artifact, error)
}

// Runs reads stored runs.
type Runs interface {
	// Load reads a run and checks the SHA-256 of everything in it. sha is the digest of the run's manifest; empty if none is recorded, as for
	// a folder on this machine.
	Load(ctx context.Context, runPrefix, sha string) (record.RunData, error)
	Get(ctx context.Context, key, sha string) ([]byte, error)
	// List lists the objects directly in a folder, newest first.
	List(ctx context.Context, folder string) ([]Object, error)
}

// Objects is a bucket, or a folder of this machine.
type Objects interface {
	Reader
	Writer
	Runs
	// LoadTrials reads the trials of the manifest of the run at a prefix. The manifest need not be stored yet.
	LoadTrials(ctx context.Context, runPrefix string, m record.RunManifest) (record.RunData, error)
}

// Bucket is an object store for uploads by others.
type Bucket interface {
	Objects
	// Destination returns a URL and headers for putting one object, of the given size and SHA-256, until it expires.
	Destination(ctx context.Context, a record.Artifact, expires time.Duration) (string, map[string]string, error)
	// Verify checks that an object is stored as described.
	Verify(ctx context.Context, a record.Artifact) error
	// CheckWriteOnce checks that the store refuses to overwrite an existing object, using the same body.
	CheckWriteOnce(ctx context.Context, key, contentType string, body []byte) error
	// Find describes an object that is there.
	Find(ctx context.Context, key string) (record.Artifact, error)
}

var (
	_ Bucket  = (*Store)(nil)
	_ Objects = (*Folder)(nil)
)

// PutJSON writes a value as JSON, once.
func (s *Store) PutJSON(ctx context.Context, key string, v any) (record.Artifact, error) {
	return putJSON(ctx, s, key, v)
}

// Load is the function of that name.
func (s *Store) Load(ctx context.Context, runPrefix, sha string) (record.RunData, error) {
	return Load(ctx, s, runPrefix, sha)
}

// LoadTrials implements Objects.
func (s *Store) LoadTrials(ctx context.Context, runPrefix string, m record.RunManifest) (record.RunData, error) {
	return loadTrials(ctx, s, runPrefix, m)
}

func putJSON(ctx context.Context, o Objects, key string, v any) (record.Artifact, error) {
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return record.Artifact{}, fmt.Errorf("encoding %s: %w", key, err)
	}
	return o.Put(ctx, key, "application/json", body)
}

func getManifest(ctx context.Context, o Reader, key, sha, schema string, into any) error {
	body, err := o.Get(ctx, key, sha)
	if err != nil {
		return err
	}
	var own struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(body, &own); err != nil {
		return fmt.Errorf("decoding %s: %w: %w", o.URI(key), ErrMalformed, err)
	}
	if own.Schema != schema {
		return fmt.Errorf("reading %s: %w: its schema is %q, and this version reads %q: use the version that wrote it, or the report that it stored", o.URI(key), ErrSchema, own.Schema, schema)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decoding %s: %w: %w", o.URI(key), ErrMalformed, err)
	}
	return nil
}

// Load reads a report's inputs from the run's manifest, and checks every digest: the manifest's own unless sha is empty.
func Load(ctx context.Context, o Reader, runPrefix, sha string) (record.RunData, error) {
	m, err := LoadManifest(ctx, o, runPrefix, sha)
	if err != nil {
		return record.RunData{}, err
	}
	return loadTrials(ctx, o, runPrefix, m)
}

// LoadManifest reads a run's manifest, and checks its SHA-256 unless sha is empty.
func LoadManifest(ctx context.Context, o Reader, runPrefix, sha string) (m record.RunManifest, err error) {
	err = getManifest(ctx, o, ManifestKey(runPrefix), sha, record.RunManifestSchema, &m)
	return m, err
}

// named checks what a manifest says of an object before it is read: it lies below a folder, and has a SHA-256. Otherwise whoever writes a
// manifest could name objects of other runs.
func named(o Reader, folder string, a record.Artifact) error {
	if path.Clean(a.Key) != a.Key || !strings.HasPrefix(a.Key, folder+"/") {
		return fmt.Errorf("reading %s: %w: the manifest that names it is of %s", o.URI(a.Key), ErrForeign, o.URI(folder))
	}
	if !record.IsSHA256(a.SHA256) {
		return fmt.Errorf("reading %s: %w: its manifest has no SHA-256 of it, so it cannot be checked", o.URI(a.Key), ErrMalformed)
	}
	return nil
}

func loadTrials(ctx context.Context, o Reader, runPrefix string, m record.RunManifest) (record.RunData, error) {
	d := record.RunData{Manifest: m}
	lost := map[string]error{}
	for _, part := range []struct {
		entries *[]record.TrialEntry
		into    *[]record.TrialData
	}{{&d.Manifest.Trials, &d.Trials}, {&d.Manifest.Following, &d.Following}} {
		if err := loadEntries(ctx, o, runPrefix, part.entries, part.into, lost); err != nil {
			return d, err
		}
	}
	names := slices.Sorted(maps.Keys(lost))
	if len(names) == 0 {
		return d, nil
	}
	if len(d.Trials)+len(d.Following) == 0 {
		return d, lost[names[0]]
	}
	note := fmt.Sprintf("this record is partial: the files of %s cannot be read: %s", strings.Join(names, ", "), lost[names[0]])
	d.Manifest.Notes = append(slices.Clone(m.Notes), note)
	if slices.ContainsFunc(d.Manifest.Trials, func(e record.TrialEntry) bool { return lost[e.Name] != nil }) {
		d.Lost = note
	}
	return d, nil
}

// loadEntries reads trials. It replaces entries with a copy without the manifests of unreadable ones.
func loadEntries(ctx context.Context, o Reader, runPrefix string, entries *[]record.TrialEntry, into *[]record.TrialData, lost map[string]error) error {
	*entries = slices.Clone(*entries)
	for i := range *entries {
		entry := &(*entries)[i]
		if entry.Manifest == nil {
			continue
		}
		var t record.TrialData
		err := named(o, runPrefix, *entry.Manifest)
		if err == nil {
			t, err = LoadTrial(ctx, o, *entry.Manifest)
		}
		switch {
		case err == nil:
			*into = append(*into, t)
		case Unreadable(err) && !errors.Is(err, ErrSchema):
			lost[entry.Name] = err
			entry.Manifest, entry.Reason, entry.Message = nil, v1alpha1.ReasonStoreUnavailable, fmt.Sprintf("the trial's files cannot be read: %s", err)
		default:
			return err
		}
	}
	return nil
}

// LoadTrial reads a trial's manifest and the files named in it, which lie below the manifest's folder.
func LoadTrial(ctx context.Context, o Reader, manifest record.Artifact) (record.TrialData, error) {
	var t record.TrialData
	folder := path.Dir(manifest.Key)
	if err := named(o, folder, manifest); err != nil {
		return t, err
	}
	if err := getManifest(ctx, o, manifest.Key, manifest.SHA256, record.TrialManifestSchema, &t.Manifest); err != nil {
		return t, err
	}
	kind, ok := kinds.All[t.Manifest.Type]
	if !ok {
		return t, fmt.Errorf("reading %s: %w: no kind of work is called %q", o.URI(manifest.Key), ErrSchema, t.Manifest.Type)
	}
	results := map[string]json.RawMessage{}
	for _, a := range t.Manifest.Artifacts {
		if a.Name != record.ResultFile {
			continue
		}
		if err := named(o, folder, a); err != nil {
			return t, err
		}
		if a.Bytes > protocol.MaxResult {
			return t, fmt.Errorf("reading %s: %w: it has %d bytes, and at most %d are read", o.URI(a.Key), ErrMalformed, a.Bytes, protocol.MaxResult)
		}
		body, err := o.Get(ctx, a.Key, a.SHA256)
		if err != nil {
			return t, err
		}
		results[a.Member] = body
	}
	if err := kind.Decode(results, &t); err != nil {
		return t, fmt.Errorf("reading %s: %w: %w", o.URI(manifest.Key), ErrMalformed, err)
	}
	t.Rows = kind.Rows(t)
	return t, nil
}

// CheckSum returns ErrCorrupt if a body does not have the SHA-256 of its manifest; an empty sha is not checked.
func CheckSum(uri string, body []byte, sha string) error {
	if sum := sha256.Sum256(body); sha != "" && hex.EncodeToString(sum[:]) != sha {
		return fmt.Errorf("%w: %s has SHA-256 %x, its manifest says %s", ErrCorrupt, uri, sum, sha)
	}
	return nil
}

func describe(key string, body []byte) record.Artifact {
	sum := sha256.Sum256(body)
	return record.Artifact{Key: key, Bytes: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}
}

func otherContent(uri string, there, want record.Artifact) error {
	return fmt.Errorf("%w: %s holds %d bytes with SHA-256 %s, not %d bytes with %s", ErrExists, uri, there.Bytes, there.SHA256, want.Bytes, want.SHA256)
}
