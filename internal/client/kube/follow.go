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
	// PollEvery is how often a run is read while it goes on.
	PollEvery = 2 * time.Second
	// awayAtMost is how long a cluster may not answer while a run is followed, and an operator not remove one that is to be replaced.
	awayAtMost = 2 * time.Minute
)

// ErrLeft is the end of somebody who followed a run, and not of the run.
var ErrLeft = errors.New("interrupted")

// Follower follows a run on a cluster.
type Follower struct {
	Client client.Client
	Key    client.ObjectKey
	// UID is that of the run: another one of its name is not followed.
	UID   types.UID
	Tell  func(progress.Event)
	Every time.Duration
	// Stored opens what is stored of the run, from which the values of its trials are told; nil if nobody looks at them.
	Stored func(context.Context) (*Stored, error)
}

// Follow tells how the run goes on until it has ended, and returns how it is then. If ctx ends before, the error is ErrLeft: the run goes on.
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

// look reads what the cluster shows of the run.
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
