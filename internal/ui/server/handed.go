package server

import (
	"context"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

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
