package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/progress"
)

const (
	watchHelp = `Follows a run on the cluster until it has ended, fetches its report, and ends with the exit code of the verdict. Ctrl-C leaves the run alone.`
	waitHelp  = `Waits in silence until a run on the cluster has ended, prints its verdict, and ends with its exit code: what a script or a gate needs.`
)

// watchCommand follows a run that is on the cluster.
func watchCommand(k *kube.Flags) *cobra.Command {
	o := clusterRun{kube: k}
	c := &cobra.Command{
		Use:     "watch RUN",
		Short:   "Follow a run on the cluster to its end",
		Long:    watchHelp + "\n\nExit codes:\n\n" + codesText(),
		Example: "  loadstone watch quick\n  loadstone watch quick --namespace bench --open",
		Args:    exactly(1, "name the run to follow"),

		ValidArgsFunction: completeRuns(k),
		RunE: func(c *cobra.Command, args []string) error {
			run, cluster, err := findRun(c.Context(), k, args[0])
			if err != nil {
				return err
			}
			return o.follow(c.Context(), screen.NewTeller(c.OutOrStdout(), false), cluster, run)
		},
	}
	c.Flags().StringVar(&o.out, "out", reportFolder, "the folder `DIR` for the report")
	c.Flags().BoolVar(&o.open, "open", false, "open the report in a browser")
	return c
}

// waitCommand waits for the end of a run.
func waitCommand(k *kube.Flags) *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:     "wait RUN",
		Short:   "Wait for the end of a run on the cluster",
		Long:    waitHelp + "\n\nExit codes:\n\n" + codesText(),
		Example: "  loadstone wait quick --timeout 30m",
		Args:    exactly(1, "name the run to wait for"),

		ValidArgsFunction: completeRuns(k),
		RunE: func(c *cobra.Command, args []string) error {
			run, cluster, err := findRun(c.Context(), k, args[0])
			if err != nil {
				return err
			}
			key := client.ObjectKeyFromObject(run)
			ctx, cancel := c.Context(), context.CancelFunc(func() {})
			if timeout > 0 {
				ctx, cancel = context.WithTimeout(ctx, timeout)
			}
			defer cancel()
			ended, err := kube.Follower{Client: cluster, Key: key, UID: run.UID, Tell: func(progress.Event) {}, Every: kube.PollEvery}.Follow(ctx)
			if errors.Is(err, kube.ErrLeft) {
				return stillGoing(c.Context(), key, timeout)
			}
			if err != nil {
				return err
			}
			e := facts.Ending(ended)
			return errors.Join(screen.PrintEnding(c.OutOrStdout(), e), statusOf(e))
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait at most, such as 30m; without end if 0")
	return c
}

// stillGoing is the end of a wait that was over before the run was.
func stillGoing(ctx context.Context, key client.ObjectKey, timeout time.Duration) error {
	if ctx.Err() != nil {
		return &statusError{statusInterrupted, fmt.Errorf("interrupted, and BenchmarkRun %s goes on", key)}
	}
	return fmt.Errorf("BenchmarkRun %s has not ended within %s, and goes on: wait again, or see what holds it with loadstone watch %s", key, timeout, key.Name)
}

// findRun is a run that is on the cluster, by its name, and a client of its cluster.
func findRun(ctx context.Context, k *kube.Flags, name string) (*v1alpha1.BenchmarkRun, client.Client, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, nil, err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return nil, nil, err
	}
	run, err := kube.Run(ctx, c, client.ObjectKey{Namespace: namespace, Name: name})
	return run, c, err
}
