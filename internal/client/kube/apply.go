package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Applier creates runs on a cluster.
type Applier struct {
	Client client.Client
	// Replace deletes a conflicting run first; Note reports it.
	Replace bool
	Note    func(string)
}

// Apply creates a run, or follows it if it exists already (followed).
func (a Applier) Apply(ctx context.Context, run *v1alpha1.BenchmarkRun) (followed bool, err error) {
	for {
		err := a.Client.Create(ctx, run)
		switch {
		case err == nil:
			return false, nil
		case apierrors.IsInvalid(err):
			return false, invalid(fmt.Errorf("the cluster refuses the run: %w", err))
		case apierrors.IsNotFound(err):
			return false, invalid(fmt.Errorf("the cluster has no namespace %s: create it with kubectl create namespace %s", run.Namespace, run.Namespace))
		case !apierrors.IsAlreadyExists(err):
			return false, Explain("", err)
		}
		there, err := Run(ctx, a.Client, client.ObjectKeyFromObject(run))
		if err != nil {
			return false, err
		}
		asked := there.Spec
		asked.Suspend = run.Spec.Suspend // Suspension does not change the measurement.
		same := apiequality.Semantic.DeepEqual(asked, run.Spec)
		switch {
		case a.Replace:
			if err := a.remove(ctx, there); err != nil {
				return false, err
			}
		case there.Status.CompletionTime != nil:
			return false, invalid(fmt.Errorf("BenchmarkRun %s/%s has already ended: use --replace to delete it and measure again, or loadstone report %s to download its report", run.Namespace, run.Name, run.Name))
		case !same:
			return false, invalid(fmt.Errorf("BenchmarkRun %s/%s already exists with a different spec: use --replace to delete it, or change your metadata.name", run.Namespace, run.Name))
		default:
			run.UID = there.UID
			return true, a.resume(ctx, there, run.Spec.Suspend)
		}
	}
}

// resume resumes a suspended run if the file says that it is not suspended, as applying the file would. If the file does not say, someone else
// may have suspended it.
func (a Applier) resume(ctx context.Context, there *v1alpha1.BenchmarkRun, asked *bool) error {
	if there.Spec.Suspend == nil || !*there.Spec.Suspend || asked != nil && *asked {
		return nil
	}
	name := fmt.Sprintf("benchmarkrun %s/%s", there.Namespace, there.Name)
	if asked == nil {
		a.Note(name + " is suspended: set spec.suspend: false in the file to resume it with this command")
		return nil
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"suspend": false}}`))
	if err := a.Client.Patch(ctx, there, patch, client.FieldOwner(owner)); err != nil {
		return fmt.Errorf("resuming BenchmarkRun %s/%s: %w", there.Namespace, there.Name, Explain("", err))
	}
	a.Note(name + " resumed")
	return nil
}

func (a Applier) remove(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	a.Note(fmt.Sprintf("deleting benchmarkrun %s/%s first: waiting until its load stops", run.Namespace, run.Name))
	ctx, cancel := context.WithTimeout(ctx, awayAtMost)
	defer cancel()
	return Remove(ctx, a.Client, run)
}

// Remove deletes a run and waits until it is gone; its load has stopped then.
func Remove(ctx context.Context, c client.Client, run *v1alpha1.BenchmarkRun) error {
	if err := client.IgnoreNotFound(c.Delete(ctx, run)); err != nil {
		return fmt.Errorf("deleting BenchmarkRun %s/%s: %w", run.Namespace, run.Name, Explain("", err))
	}
	for {
		err := c.Get(ctx, client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting for the deletion of BenchmarkRun %s/%s: %w", run.Namespace, run.Name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the deletion of BenchmarkRun %s/%s: %w", run.Namespace, run.Name, notRemoved(ctx))
		case <-time.After(PollEvery / 4):
		}
	}
}

func notRemoved(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the operator does not remove it: check with loadstone doctor that the operator is running")
	}
	return ErrLeft
}
