package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// errStillThere says that runs are left which only the operator can end.
var errStillThere = errors.New("the operator has not ended every run: see that it is running, or uninstall with --no-hooks and remove the finalizers yourself")

// retire prepares the cluster for the end of the operator, for the hook of helm uninstall. Runs that go on are deleted, since nobody would end
// them, and the operator stops their load. Runs that have ended stay, without the finalizer that nobody would remove.
func retire(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("retire", flag.ContinueOnError)
	patience := f.Duration("patience", 4*time.Minute, "how long the operator has to stop the loads that go on")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("registering types: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	return release(ctx, c, awaitPause)
}

// release goes over all runs until none of them needs the operator.
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
			if err := letGo(ctx, c, run); client.IgnoreNotFound(err) != nil {
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

// letGo deletes a run that goes on, and takes the finalizer of one that has ended.
func letGo(ctx context.Context, c client.Client, run *v1alpha1.BenchmarkRun) error {
	switch {
	case !run.DeletionTimestamp.IsZero():
		return nil // The operator is about to remove it.
	case run.Status.CompletionTime == nil:
		return c.Delete(ctx, run)
	}
	controllerutil.RemoveFinalizer(run, v1alpha1.Finalizer)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": run.Finalizers, "resourceVersion": run.ResourceVersion}})
	if err != nil {
		return fmt.Errorf("encoding finalizers: %w", err)
	}
	return c.Patch(ctx, run, client.RawPatch(types.MergePatchType, patch))
}
