package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/local/folders"
)

const listHelp = `Lists the runs in a namespace, newest first, with state, progress, remaining time and verdict. With --here, it
lists the results on this machine, from the folder that loadstone run writes to.`

func listCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var everywhere bool
	var here bool
	var folder string
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List runs on the cluster, or results on this machine",
		Long:    listHelp,
		Example: "  loadstone list --all-namespaces\n  loadstone list --here",
		Args:    exactly(0, "list takes no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			list := func() ([]screen.Run, error) { return listCluster(c.Context(), k, everywhere) }
			if here {
				list = func() ([]screen.Run, error) { return listFolder(folder) }
			}
			runs, err := list()
			if err != nil {
				return orHere(err)
			}
			return printValue(c.OutOrStdout(), output, runs, func(out io.Writer) error { return screen.Runs(out, runs, time.Now()) })
		},
	}
	f := c.Flags()
	f.BoolVarP(&everywhere, "all-namespaces", "A", false, "list the runs in all namespaces")
	f.BoolVar(&here, "here", false, "list the results on this machine")
	f.StringVar(&folder, "folder", resultsFolder, "with --here: list the results in `DIR`")
	bindDataOutput(c, &output)
	return c
}

// orHere mentions list --here if the error is that there is no cluster.
func orHere(err error) error {
	if errors.Is(err, kube.ErrNoCluster) {
		return fmt.Errorf("%w; to list runs on this machine, use loadstone list --here", err)
	}
	return err
}

func listCluster(ctx context.Context, k *kube.Flags, everywhere bool) ([]screen.Run, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return nil, err
	}
	if everywhere {
		namespace = ""
	}
	var runs v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &runs, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing BenchmarkRuns: %w", kube.Explain("", err))
	}
	out := []screen.Run{}
	for i := range runs.Items {
		r := &runs.Items[i]
		out = append(out, screen.Run{
			Namespace: r.Namespace, Name: r.Name, State: facts.State(r), Progress: r.Status.Progress, Left: r.Status.TimeLeft,
			Created: r.CreationTimestamp.Time, Verdict: r.Status.Verdict,
		})
	}
	slices.SortFunc(out, screen.NewestFirst)
	return out, nil
}

func listFolder(folder string) ([]screen.Run, error) {
	runs, err := folders.List(folder)
	out := []screen.Run{}
	for _, r := range runs {
		one := screen.Run{Name: r.Name, State: "Interrupted", Created: r.Begun, Folder: r.Folder, Verdict: r.Verdict}
		if r.Ended {
			one.State, one.Progress = "Ended", fmt.Sprintf("%d trials", r.Trials)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, screen.NewestFirst)
	return out, err
}
