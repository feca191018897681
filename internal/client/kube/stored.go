package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

// Stored reads runs' stored files. The operator serves runs that it knows. Refused files are read directly from the store if the user may
// read the credentials. After all Know calls, it is safe for concurrent use.
type Stored struct {
	Client    client.Client
	namespace string
	handout   *download.Client
	known     []download.Files
	open      func(context.Context) (*Installation, error)
	note      func(string)
	mu        sync.Mutex
	in        *Installation
}

var (
	_ artifact.Runs   = (*Stored)(nil)
	_ rounds.Holder   = (*Stored)(nil)
	_ artifact.Reader = (*Stored)(nil)
)

// Stored connects to the cluster. Close it after use.
func (k *Flags) Stored(ctx context.Context) (*Stored, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	config, err := k.Config()
	if err != nil {
		return nil, err
	}
	c, err := Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	asked, err := download.NewClient(config, k.System)
	if err != nil {
		return nil, err
	}
	return &Stored{Client: c, namespace: namespace, handout: asked, open: k.Installation, note: k.Note}, nil
}

// Know registers a run's files.
func (s *Stored) Know(r *v1alpha1.BenchmarkRun) { s.known = append(s.known, s.handout.Of(r)) }

// LoadRun reads the records of a run; an empty namespace means the context's.
func (s *Stored) LoadRun(ctx context.Context, key client.ObjectKey) (record.RunData, error) {
	if key.Namespace == "" {
		key.Namespace = s.namespace
	}
	r, err := Run(ctx, s.Client, key)
	if err != nil {
		return record.RunData{}, err
	}
	s.Know(r)
	return s.Load(ctx, download.PrefixOf(r), r.Status.Report.ManifestSHA256)
}

// URI implements artifact.Reader.
func (s *Stored) URI(key string) string { return "stored:" + key }

// Get implements artifact.Reader.
func (s *Stored) Get(ctx context.Context, key, sha string) ([]byte, error) {
	refused := fmt.Errorf("%w: %s does not belong to an existing run", download.ErrRefused, key)
	for _, files := range s.known {
		if s.opened() == nil && files.Hold(key) {
			body, err := files.Get(ctx, key, sha)
			if !errors.Is(err, download.ErrRefused) {
				return body, err
			}
			refused = err
		}
	}
	store, err := s.byKey(ctx, refused)
	if err != nil {
		return nil, err
	}
	return store.Get(ctx, key, sha)
}

// Load implements artifact.Runs.
func (s *Stored) Load(ctx context.Context, runPrefix, sha string) (record.RunData, error) {
	return artifact.Load(ctx, s, runPrefix, sha)
}

// List implements artifact.Runs. It needs the store, since the operator cannot list.
func (s *Stored) List(ctx context.Context, folder string) ([]artifact.Object, error) {
	store, err := s.byKey(ctx, fmt.Errorf("%w: %s does not belong to a run", download.ErrRefused, folder))
	if err != nil {
		return nil, err
	}
	return store.List(ctx, folder)
}

// Hold reports whether a key belongs to a known run.
func (s *Stored) Hold(key string) bool {
	return slices.ContainsFunc(s.known, func(f download.Files) bool { return f.Hold(key) })
}

func (s *Stored) opened() *Installation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.in
}

func (s *Stored) byKey(ctx context.Context, refused error) (*artifact.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in != nil {
		return s.in.Store, nil
	}
	in, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w; without access to the operator you need the credentials of the object store: %w", refused, err)
	}
	s.in = in
	if s.note != nil {
		s.note(fmt.Sprintf("reading the object store directly: %v", refused))
	}
	return in.Store, nil
}

// Close ends the connection to the store.
func (s *Stored) Close() {
	if s.in != nil {
		s.in.Close()
	}
}

// Run reads a run. A missing one is an error in a sentence.
func Run(ctx context.Context, c client.Client, key client.ObjectKey) (*v1alpha1.BenchmarkRun, error) {
	var r v1alpha1.BenchmarkRun
	err := c.Get(ctx, key, &r)
	if apierrors.IsNotFound(err) {
		return nil, invalid(fmt.Errorf("there is no BenchmarkRun %s in namespace %s: list all with loadstone list --all-namespaces", key.Name, key.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("reading BenchmarkRun %s: %w", key, Explain("", err))
	}
	return &r, nil
}
