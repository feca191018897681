package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"loadstone.dev/loadstone/internal/record"
)

// Folder stores objects as files on this machine, for local runs.
type Folder struct{ dir string }

// OpenFolder makes the folder if needed, and checks that it is writable.
func OpenFolder(dir string) (*Folder, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("naming the folder %s: %w", dir, err)
	}
	f := &Folder{dir: whole}
	if err := os.MkdirAll(whole, 0o755); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("making %s: %w", whole, ErrNotWritable) // As in /proc, which forbids new folders.
	} else if err != nil {
		return nil, f.explain("making", "", err)
	}
	probe, err := os.CreateTemp(whole, ".loadstone-*")
	if err != nil {
		return nil, f.explain("writing to", "", err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, f.explain("writing to", "", err)
	}
	return f, nil
}

// ReadFolder returns a read-only folder, without making or checking it.
func ReadFolder(dir string) *Folder { return &Folder{dir: dir} }

// URI implements Objects: an object's path.
func (f *Folder) URI(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

// Put implements Objects. It is atomic: a file is written under another name and then linked.
func (f *Folder) Put(_ context.Context, key, _ string, body []byte) (a record.Artifact, err error) {
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return a, fmt.Errorf("writing %q: the key leads out of the folder %s", key, f.dir)
	}
	a = describe(key, body)
	place := f.URI(key)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return a, f.explain("writing", key, err)
	}
	whole, err := f.write(place, body)
	if err != nil {
		return a, f.explain("writing", key, err)
	}
	defer func() { err = errors.Join(err, os.Remove(whole)) }()
	err = os.Link(whole, place)
	if errors.Is(err, fs.ErrExist) {
		return a, f.same(a)
	}
	if err != nil {
		return a, f.explain("writing", key, err)
	}
	return a, nil
}

func (f *Folder) write(place string, body []byte) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(place), ".loadstone-*")
	if err != nil {
		return "", err
	}
	_, err = file.Write(body)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

func (f *Folder) same(a record.Artifact) error {
	body, err := os.ReadFile(f.URI(a.Key))
	if err != nil {
		return f.explain("looking up", a.Key, err)
	}
	if there := describe(a.Key, body); there != a {
		return otherContent(f.URI(a.Key), there, a)
	}
	return nil
}

// Get implements Objects.
func (f *Folder) Get(_ context.Context, key, sha string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return nil, fmt.Errorf("reading %q: %w", key, ErrNotFound)
	}
	info, err := os.Stat(f.URI(key))
	if err != nil {
		return nil, f.explain("reading", key, err)
	}
	if info.Size() > maxRead {
		return nil, fmt.Errorf("reading %s: %w: it is larger than %d bytes", f.URI(key), ErrMalformed, maxRead)
	}
	body, err := os.ReadFile(f.URI(key))
	if err != nil {
		return nil, f.explain("reading", key, err)
	}
	return body, CheckSum(f.URI(key), body, sha)
}

// List implements Objects.
func (f *Folder) List(_ context.Context, folder string) ([]Object, error) {
	entries, err := os.ReadDir(f.URI(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.explain("listing", folder, err)
	}
	var out []Object
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || e.Name()[0] == '.' {
			continue // A folder, a file being written, or one that is gone.
		}
		out = append(out, Object{Key: path.Join(folder, e.Name()), Modified: info.ModTime()})
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// PutJSON writes a value as JSON, once.
func (f *Folder) PutJSON(ctx context.Context, key string, v any) (record.Artifact, error) {
	return putJSON(ctx, f, key, v)
}

// Load is the function of that name.
func (f *Folder) Load(ctx context.Context, runPrefix, sha string) (record.RunData, error) {
	return Load(ctx, f, runPrefix, sha)
}

// LoadTrials implements Objects.
func (f *Folder) LoadTrials(ctx context.Context, runPrefix string, m record.RunManifest) (record.RunData, error) {
	return loadTrials(ctx, f, runPrefix, m)
}

func (f *Folder) explain(doing, key string, err error) error {
	var kind error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = ErrNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		kind = ErrNotWritable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind = ErrFull
	default:
		return fmt.Errorf("%s %s: %w", doing, f.URI(key), err)
	}
	return fmt.Errorf("%s %s: %w", doing, f.URI(key), kind)
}

func newestFirst(a, b Object) int {
	return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(b.Key, a.Key))
}
