package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/progress"
)

const (
	// PollEvery is the interval of reading a followed run.
	PollEvery = 2 * time.Second
	// awayAtMost bounds how long a followed cluster may be unavailable, and how long a replaced run's removal may take.
	awayAtMost = 2 * time.Minute
)

// ErrLeft: following ended, not the run.
var ErrLeft = errors.New("interrupted")

// Follower follows a run on a cluster.
type Follower struct {
	Client client.Client
	Key    client.ObjectKey
	UID    types.UID
	Tell   func(progress.Event)
	Every  time.Duration
	Stored func(context.Context) (*Stored, error)
}

// Follow reports progress until the run has ended, and returns its final state. If ctx ends first, it returns ErrLeft, and the run continues.
func (f Follower) Follow(ctx context.Context) (*v1alpha1.BenchmarkRun, error) {
	var seen facts.Follower
	v := values{open: f.Stored, results: map[string][]progress.Result{}, note: func(text string) { f.Tell(progress.Event{Kind: progress.EventNote, Message: text}) }}
	defer v.close()
	answered := time.Now()
	for {
		s, err := f.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ErrLeft
		case apierrors.IsNotFound(err), err == nil && s.Run.UID != f.UID:
			return nil, fmt.Errorf("BenchmarkRun %s in namespace %s was deleted while the command followed it", f.Key.Name, f.Key.Namespace)
		case err != nil && time.Since(answered) > awayAtMost:
			return nil, Explain("", err)
		case err == nil:
			answered = time.Now()
			s.Codes = v.read(ctx, s)
			for _, e := range seen.See(s) {
				if e.Kind == progress.EventMeasured {
					e.Results = v.results[e.Trial.Name]
				}
				f.Tell(e)
			}
			if s.Run.Status.CompletionTime != nil {
				return s.Run, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ErrLeft
		case <-time.After(f.Every):
		}
	}
}

func (f Follower) look(ctx context.Context) (facts.Sight, error) {
	s := facts.Sight{Now: time.Now()}
	var run v1alpha1.BenchmarkRun
	if err := f.Client.Get(ctx, f.Key, &run); err != nil {
		return s, err
	}
	var trials v1alpha1.TrialList
	if err := f.Client.List(ctx, &trials, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}); err != nil {
		return s, err
	}
	s.Run, s.Plan, s.Trials = &run, facts.KnownPlan(&run), trials.Items
	return s, nil
}
