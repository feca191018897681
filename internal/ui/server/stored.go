package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

const (
	// fetchDeadline bounds fetching a file, including the wait for its turn.
	fetchDeadline = time.Minute
	// filesAtOnce bounds simultaneous files in memory. It is half of the operator's limit, so that other clients are served too.
	filesAtOnce = 4
)

type stored interface {
	// Get reads a run's file by key, and checks its SHA-256 unless sha is empty.
	Get(ctx context.Context, r *v1alpha1.BenchmarkRun, key, sha string) ([]byte, error)
	// Open returns a store of some runs' files for concurrent use until done is called.
	Open(ctx context.Context, runs []v1alpha1.BenchmarkRun) (store artifact.Runs, done func(), err error)
}

// shelf reads like loadstone report: files of existing runs from the operator, others with the store's credentials.
type shelf struct{ flags kube.Flags }

// newShelf makes fetching commands print their repeated notices once.
func newShelf(k *kube.Flags) *shelf {
	s := &shelf{*k}
	var once sync.Once
	s.flags.Note = func(text string) { once.Do(func() { k.Note(text) }) }
	return s
}

// Get implements stored.
func (s *shelf) Get(ctx context.Context, r *v1alpha1.BenchmarkRun, key, sha string) ([]byte, error) {
	in, err := s.flags.Stored(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	in.Know(r)
	return in.Get(ctx, key, sha)
}

// Open implements stored.
func (s *shelf) Open(ctx context.Context, runs []v1alpha1.BenchmarkRun) (store artifact.Runs, done func(), err error) {
	in, err := s.flags.Stored(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range runs {
		in.Know(&runs[i])
	}
	return in, in.Close, nil
}

// file sends a run's stored file in a sandbox. Only the report page, whose digest is in the run's status, is shown as a page; other files are
// text or downloads.
func (s *site) file(w http.ResponseWriter, q *http.Request) {
	r := s.runOf(w, q)
	if r == nil {
		return
	}
	w.Header().Set("Content-Security-Policy", filePolicy)
	file := q.PathValue("file")
	if !fs.ValidPath(file) || file == "." {
		http.Error(w, "the run has no such file", http.StatusNotFound)
		return
	}
	sha, kind := "", ""
	if file == reportOf(r) {
		sha, kind = r.Status.Report.SHA256, "text/html; charset=utf-8"
	}
	ctx, cancel := context.WithTimeout(q.Context(), fetchDeadline)
	defer cancel()
	leave, err := s.turn(ctx)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	body, err := s.stored.Get(ctx, r, path.Join(download.PrefixOf(r), file), sha)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	switch {
	case kind != "":
	case utf8.Valid(body):
		kind = "text/plain; charset=utf-8"
	default:
		kind = "application/octet-stream"
	}
	write(w, http.StatusOK, kind, body)
}

func (s *site) turn(ctx context.Context) (leave func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, errors.New("too many files are asked for at once: try again")
	}
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, artifact.ErrNotFound), errors.Is(err, download.ErrNotLed):
		return http.StatusNotFound
	case errors.Is(err, download.ErrRefused):
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

// handed reads only what the operator serves: it has no store credentials.
type handed struct{ operator *download.Client }

// Get implements stored.
func (h handed) Get(ctx context.Context, r *v1alpha1.BenchmarkRun, key, sha string) ([]byte, error) {
	return h.operator.Of(r).Get(ctx, key, sha)
}

// Open implements stored. Files of deleted runs are missing.
func (h handed) Open(_ context.Context, runs []v1alpha1.BenchmarkRun) (store artifact.Runs, done func(), err error) {
	var files ofRuns
	for i := range runs {
		files = append(files, h.operator.Of(&runs[i]))
	}
	return files, func() {}, nil
}

type ofRuns []download.Files

var (
	_ artifact.Runs   = ofRuns{}
	_ rounds.Holder   = ofRuns{}
	_ artifact.Reader = ofRuns{}
)

// Get implements artifact.Reader.
func (f ofRuns) Get(ctx context.Context, key, sha string) ([]byte, error) {
	for _, files := range f {
		if files.Hold(key) {
			return files.Get(ctx, key, sha)
		}
	}
	return nil, fmt.Errorf("%w here: the run that has left %s was deleted, and only who has the key of the object store reads it: loadstone suite history", artifact.ErrNotFound, key)
}

// Hold implements rounds.Holder.
func (f ofRuns) Hold(key string) bool {
	return slices.ContainsFunc(f, func(files download.Files) bool { return files.Hold(key) })
}

// URI implements artifact.Reader.
func (f ofRuns) URI(key string) string { return "stored:" + key }

// Load implements artifact.Runs.
func (f ofRuns) Load(ctx context.Context, runPrefix, sha string) (record.RunData, error) {
	return artifact.Load(ctx, f, runPrefix, sha)
}

// List implements artifact.Runs. Objects without a run, such as noise floors, are not served, and histories do not need them.
func (f ofRuns) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }
