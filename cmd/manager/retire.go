package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
)

var errStillThere = errors.New("the operator has not ended every run: see that it is running, or uninstall with --no-hooks and remove the finalizers yourself")

// retire prepares helm uninstall. It deletes unfinished runs, while the operator can still stop their load. Ended runs stay, without their
// finalizer.
func retire(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("retire", flag.ContinueOnError)
	patience := f.Duration("patience", 4*time.Minute, "how long the operator has to stop running loads")
	some := f.String("namespaces", "", "the namespaces whose runs the operator leads, separated by commas; empty are all of the cluster")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	led, err := namespaces.Parse(*some, "")
	if err != nil {
		return fmt.Errorf("reading -namespaces (chart value runs.namespaces): %w", err)
	}
	c, err := errandClient()
	if err != nil {
		return err
	}
	c = led.Client(c)
	ctx, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	if err := noSuites(ctx, c); err != nil {
		return err
	}
	return release(ctx, c, awaitPause)
}

func noSuites(ctx context.Context, c client.Reader) error {
	var suites v1alpha1.BenchmarkSuiteList
	if err := c.List(ctx, &suites); err != nil {
		return fmt.Errorf("listing BenchmarkSuites: %w", err)
	}
	for i := range suites.Items {
		if s := &suites.Items[i]; s.DeletionTimestamp.IsZero() && (s.Spec.Suspend == nil || !*s.Spec.Suspend) {
			return fmt.Errorf("BenchmarkSuite %s would make new runs: delete it, or set its spec.suspend, and uninstall again", client.ObjectKeyFromObject(s))
		}
	}
	return nil
}

// release repeats over all runs until none needs the operator.
func release(ctx context.Context, c client.Client, pause time.Duration) error {
	for {
		var runs v1alpha1.BenchmarkRunList
		if err := c.List(ctx, &runs); err != nil {
			return fmt.Errorf("listing BenchmarkRuns: %w", err)
		}
		left := 0
		for i := range runs.Items {
			run := &runs.Items[i]
			if !controllerutil.ContainsFinalizer(run, v1alpha1.Finalizer) && run.Status.CompletionTime != nil {
				continue
			}
			// A run changed concurrently is handled in the next pass.
			if err := letGo(ctx, c, run); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return fmt.Errorf("releasing BenchmarkRun %s: %w", client.ObjectKeyFromObject(run), err)
			}
			left++
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%d are left)", errStillThere, left)
		case <-time.After(pause):
		}
	}
}

// letGo deletes an unfinished run, and removes an ended one's finalizer.
func letGo(ctx context.Context, c client.Client, run *v1alpha1.BenchmarkRun) error {
	switch {
	case !run.DeletionTimestamp.IsZero():
		return nil // The operator is about to remove it.
	case run.Status.CompletionTime == nil:
		return c.Delete(ctx, run, client.Preconditions{UID: &run.UID, ResourceVersion: &run.ResourceVersion})
	}
	controllerutil.RemoveFinalizer(run, v1alpha1.Finalizer)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": run.Finalizers, "resourceVersion": run.ResourceVersion}})
	if err != nil {
		return fmt.Errorf("encoding finalizers: %w", err)
	}
	return c.Patch(ctx, run, client.RawPatch(types.MergePatchType, patch))
}
