package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

// Found is the result of an A/A run.
type Found struct {
	Ending progress.Ending
	// Line states the noise of the machine, or why it is unknown. It is empty without a report.
	Line string
	// Floor: a noise floor was stored for later runs.
	Floor bool
}

// Here measures a run on this machine. A *plan.Violation means invalid input.
func Here(ctx context.Context, o localOptions) (Found, error) {
	r, err := newMeasurement(ctx, o)
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
	return readFound(context.WithoutCancel(ctx), artifact.ReadFolder(filepath.Dir(whole)), filepath.Base(whole), "", e)
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
	return readFound(ctx, in.Store, download.PrefixOf(ended), ended.Status.Report.ManifestSHA256, e)
}

func readFound(ctx context.Context, store artifact.Runs, prefix, sha string, e progress.Ending) (Found, error) {
	data, err := publish.Read(ctx, store, prefix, sha)
	if err != nil {
		return Found{}, fmt.Errorf("reading %s: %w", prefix, err)
	}
	table, err := publish.Analyse(data)
	if err != nil {
		return Found{}, fmt.Errorf("reading %s: %w", prefix, err)
	}
	return Found{Ending: e, Line: report.NoiseLine(table), Floor: table.Calibrates()}, nil
}
