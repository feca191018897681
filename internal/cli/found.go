package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

// Found is what an A/A run has found.
type Found struct {
	Ending progress.Ending
	// Line says what the machine's noise is, or why that is not known; empty of a run without a report.
	Line string
	// Floor is true if there is a noise floor now, which later runs find.
	Floor bool
}

// Here leads a run on this machine. An error that is a *plan.Violation is a sentence about what was given.
func Here(ctx context.Context, o local.Options) (Found, error) {
	r, err := local.New(ctx, o)
	if err != nil {
		return Found{}, err
	}
	e, err := r.Lead(ctx)
	if err != nil || e.Report == "" {
		return Found{Ending: e}, err
	}
	whole, err := filepath.Abs(o.Out)
	if err != nil {
		return Found{}, fmt.Errorf("naming the folder %s: %w", o.Out, err)
	}
	return readFound(context.WithoutCancel(ctx), artifact.ReadFolder(filepath.Dir(whole)), filepath.Base(whole), e)
}

// Follow follows a run on the cluster to its end.
func Follow(ctx context.Context, k *kube.Flags, c client.Client, r *v1alpha1.BenchmarkRun, tell func(progress.Event)) (Found, error) {
	ended, err := kube.Follower{Client: c, Key: client.ObjectKeyFromObject(r), UID: r.UID, Tell: tell, Every: kube.PollEvery, Stored: k.Stored}.Follow(ctx)
	if err != nil {
		return Found{}, err
	}
	e := facts.Ending(ended)
	if ended.Status.Report.URI == "" {
		return Found{Ending: e}, nil
	}
	in, err := k.Installation(ctx)
	if err != nil {
		return Found{}, err
	}
	defer in.Close()
	return readFound(ctx, in.Store, download.PrefixOf(ended), e)
}

// read reads what a run has found from what is stored of it.
func readFound(ctx context.Context, store artifact.Runs, prefix string, e progress.Ending) (Found, error) {
	data, err := publish.Read(ctx, store, prefix)
	if err != nil {
		return Found{}, fmt.Errorf("reading %s: %w", prefix, err)
	}
	table, err := publish.Analyse(data)
	if err != nil {
		return Found{}, fmt.Errorf("reading %s: %w", prefix, err)
	}
	return Found{Ending: e, Line: report.NoiseLine(table), Floor: table.Calibrates()}, nil
}
