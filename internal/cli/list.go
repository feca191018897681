package cli

import (
	"context"
	"errors"
	"fmt"
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

const listHelp = `Lists the runs of a namespace of the cluster, the newest first: how far each is, how long it still takes, and its verdict. With --here it lists the
results of runs on this machine, in the folder into which loadstone run writes.`

// listCommand lists runs.
func listCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var everywhere bool
	var here bool
	var folder string
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the runs on the cluster, or the results on this machine",
		Long:    listHelp,
		Example: "  loadstone list --all-namespaces\n  loadstone list --here",
		Args:    exactly(0, "list takes no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			list := func() ([]screen.Run, error) { return listCluster(c.Context(), k, everywhere) }
			if here {
				list = func() ([]screen.Run, error) { return listFolder(folder) }
			}
			runs, err := list()
			if err != nil {
				return orHere(err)
			}
			if output == jsonOutput {
				return printJSON(c.OutOrStdout(), runs)
			}
			return screen.Runs(c.OutOrStdout(), runs, time.Now())
		},
	}
	f := c.Flags()
	f.BoolVarP(&everywhere, "all-namespaces", "A", false, "list the runs of all namespaces")
	f.BoolVar(&here, "here", false, "list the results on this machine")
	f.StringVar(&folder, "folder", resultsFolder, "the folder `DIR` that --here lists")
	bindOutput(c, &output)
	return c
}

// orHere adds to the error of a machine without a cluster where the runs on this machine are.
func orHere(err error) error {
	if errors.Is(err, kube.ErrNoCluster) {
		return fmt.Errorf("%w; the runs on this machine are listed by loadstone list --here", err)
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

// listFolder lists the runs whose results lie below a folder.
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
