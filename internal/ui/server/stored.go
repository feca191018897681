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
	// fetchDeadline bounds the fetching of a file, the wait for its turn included.
	fetchDeadline = time.Minute
	// filesAtOnce bounds how many files are in memory at the same time. It is half of what the operator hands out at once, so that others are served, too.
	filesAtOnce = 4
)

// stored reads what is stored of runs.
type stored interface {
	// Get reads a file of a run by its key and, where sha is not empty, checks its SHA-256.
	Get(ctx context.Context, r *v1alpha1.BenchmarkRun, key, sha string) ([]byte, error)
	// Open opens a store of what some runs have left, from which several can read at the same time until it is done.
	Open(ctx context.Context, runs []v1alpha1.BenchmarkRun) (store artifact.Runs, done func(), err error)
}

// shelf reads as loadstone report does: the operator hands out what belongs to runs that are there, and the rest is read by the store's key.
type shelf struct{ flags kube.Flags }

// newShelf says once what a command that fetches something says each time.
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

// file answers with a stored file of a run, in a place of its own. The page of the run's report, whose digest stands in its status, is the only one
// that is shown as a page: the other files are text, or are downloaded.
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

// turn waits until a file may be read, and leave lets another one be read.
func (s *site) turn(ctx context.Context) (leave func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, errors.New("too many files are asked for at once: try again")
	}
}

// statusOf is the status of an answer without a file.
func statusOf(err error) int {
	switch {
	case errors.Is(err, artifact.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, download.ErrRefused):
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

// handed reads what the operator hands out, and nothing else: the key of the store is not here.
type handed struct{ operator *download.Client }

// Get implements stored.
func (h handed) Get(ctx context.Context, r *v1alpha1.BenchmarkRun, key, sha string) ([]byte, error) {
	return h.operator.Of(r).Get(ctx, key, sha)
}

// Open implements stored. What runs have left that were deleted is not there.
func (h handed) Open(_ context.Context, runs []v1alpha1.BenchmarkRun) (store artifact.Runs, done func(), err error) {
	var files ofRuns
	for i := range runs {
		files = append(files, h.operator.Of(&runs[i]))
	}
	return files, func() {}, nil
}

// ofRuns are what is stored of some runs.
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
func (f ofRuns) Load(ctx context.Context, runPrefix string) (record.RunData, error) {
	return artifact.Load(ctx, f, runPrefix)
}

// List implements artifact.Runs. What no run owns, such as a noise floor, is not handed out, and a history shows none.
func (f ofRuns) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }
