package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/follow"
	"loadstone.dev/loadstone/internal/progress"
)

const (
	// lookEvery is how often a run is read while it goes on.
	lookEvery = 2 * time.Second
	// awayAtMost is how long a cluster may not answer while a run is followed, and an operator not remove one that is to be replaced.
	awayAtMost = 2 * time.Minute
)

// errLeft is the end of somebody who followed a run, and not of the run.
var errLeft = errors.New("interrupted")

// follower follows a run on a cluster.
type follower struct {
	client client.Client
	key    client.ObjectKey
	// uid is that of the run: another one of its name is not followed.
	uid   types.UID
	tell  func(progress.Event)
	every time.Duration
}

// follow tells how the run goes on until it has ended, and returns how it is then. If ctx ends before, the error is errLeft: the run goes on.
func (f follower) follow(ctx context.Context) (*v1alpha1.BenchmarkRun, error) {
	var seen follow.Follower
	answered := time.Now()
	for {
		s, err := f.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, errLeft
		case apierrors.IsNotFound(err), err == nil && s.Run.UID != f.uid:
			return nil, fmt.Errorf("there is no BenchmarkRun %s in namespace %s any more: it was deleted while it was followed", f.key.Name, f.key.Namespace)
		case err != nil && time.Since(answered) > awayAtMost:
			return nil, discover.Explain("", err)
		case err == nil:
			answered = time.Now()
			for _, e := range seen.See(s) {
				f.tell(e)
			}
			if s.Run.Status.CompletionTime != nil {
				return s.Run, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, errLeft
		case <-time.After(f.every):
		}
	}
}

// look reads what the cluster shows of the run.
func (f follower) look(ctx context.Context) (follow.Sight, error) {
	var s follow.Sight
	var run v1alpha1.BenchmarkRun
	if err := f.client.Get(ctx, f.key, &run); err != nil {
		return s, err
	}
	var trials v1alpha1.TrialList
	if err := f.client.List(ctx, &trials, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}); err != nil {
		return s, err
	}
	s.Run, s.Trials = &run, trials.Items
	if run.Status.StartTime != nil || run.Status.CompletionTime != nil {
		return s, nil
	}
	var all v1alpha1.BenchmarkRunList
	if err := f.client.List(ctx, &all); err != nil && !apierrors.IsForbidden(err) {
		return s, err
	}
	s.All = all.Items
	return s, nil
}

// applier puts a run on a cluster.
type applier struct {
	client client.Client
	// replace is true if a run that stands in the way is deleted; note is told of it.
	replace bool
	note    func(string)
}

// apply creates a run, or finds that it is there already and goes on.
func (a applier) apply(ctx context.Context, run *v1alpha1.BenchmarkRun) (followed bool, err error) {
	for {
		err := a.client.Create(ctx, run)
		switch {
		case err == nil:
			return false, nil
		case apierrors.IsInvalid(err):
			return false, badInput(fmt.Errorf("the cluster refuses the run: %w", err))
		case apierrors.IsNotFound(err):
			return false, badInput(fmt.Errorf("the cluster has no namespace %s: kubectl create namespace %s makes it", run.Namespace, run.Namespace))
		case !apierrors.IsAlreadyExists(err):
			return false, discover.Explain("", err)
		}
		there, err := getRun(ctx, a.client, client.ObjectKeyFromObject(run))
		if err != nil {
			return false, err
		}
		same := apiequality.Semantic.DeepEqual(there.Spec, run.Spec)
		switch {
		case a.replace:
			if err := a.remove(ctx, there); err != nil {
				return false, err
			}
		case there.Status.CompletionTime != nil:
			return false, badInput(fmt.Errorf("BenchmarkRun %s/%s has ended before: --replace deletes it and measures again, loadstone report %s fetches its report", run.Namespace, run.Name, run.Name))
		case !same:
			return false, badInput(fmt.Errorf("BenchmarkRun %s/%s is there already and measures something else: --replace deletes it, or give yours another metadata.name", run.Namespace, run.Name))
		default:
			run.UID = there.UID
			return true, nil
		}
	}
}

// remove deletes a run that stands in the way.
func (a applier) remove(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	a.note(fmt.Sprintf("benchmarkrun %s/%s is deleted first: waiting until its load has stopped", run.Namespace, run.Name))
	ctx, cancel := context.WithTimeout(ctx, awayAtMost)
	defer cancel()
	return remove(ctx, a.client, run)
}

// remove deletes a run and waits until it is gone: its load has stopped then.
func remove(ctx context.Context, c client.Client, run *v1alpha1.BenchmarkRun) error {
	if err := client.IgnoreNotFound(c.Delete(ctx, run)); err != nil {
		return fmt.Errorf("deleting BenchmarkRun %s/%s: %w", run.Namespace, run.Name, discover.Explain("", err))
	}
	for {
		err := c.Get(ctx, client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting until BenchmarkRun %s/%s is deleted: %w", run.Namespace, run.Name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until BenchmarkRun %s/%s is deleted: %w", run.Namespace, run.Name, notRemoved(ctx))
		case <-time.After(lookEvery / 4):
		}
	}
}

// notRemoved is why nobody waits for the end of a run any longer.
func notRemoved(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the operator does not remove it: is it running? loadstone doctor finds out")
	}
	return errLeft
}
