package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	watchHelp = `Follows a run on the cluster until it ends, downloads its report, and exits with the code of its verdict.
Ctrl-C does not stop the run.`
	waitHelp = `Waits silently until a run on the cluster ends, prints its verdict, and exits with the code of that verdict.
Use it in scripts and gates.`
)

func watchCommand(k *kube.Flags) *cobra.Command {
	o := clusterRun{kube: k, output: textOutput}
	c := &cobra.Command{
		Use:     "watch RUN",
		Short:   "Follow a run on the cluster to its end",
		Long:    watchHelp + "\n\nExit codes:\n\n" + codesText(),
		Example: "  loadstone watch quick\n  loadstone watch quick --namespace bench --open",
		Args:    exactly(1, "name one run"),

		ValidArgsFunction: completeRuns(k),
		RunE: func(c *cobra.Command, args []string) error {
			run, cluster, err := findRun(c.Context(), k, args[0])
			if err != nil {
				return err
			}
			return o.follow(c.Context(), screen.NewTeller(c.OutOrStdout(), o.output == jsonOutput), cluster, run)
		},
	}
	c.Flags().StringVar(&o.out, "out", reportFolder, "write the report to `DIR`")
	c.Flags().BoolVar(&o.open, "open", false, "open the report in a browser")
	bindOutput(c, &o.output, textOutput, jsonOutput)
	return c
}

func waitCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var timeout time.Duration
	c := &cobra.Command{
		Use:     "wait RUN",
		Short:   "Wait for the end of a run on the cluster",
		Long:    waitHelp + "\n\nExit codes:\n\n" + codesText(),
		Example: "  loadstone wait quick --timeout 30m",
		Args:    exactly(1, "name one run"),

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
			text := func(out io.Writer) error { return screen.PrintEnding(out, e) }
			return errors.Join(printValue(c.OutOrStdout(), output, screen.EndOf(e), text), statusOf(e))
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "maximum time to wait, such as 30m; 0 means no limit")
	bindDataOutput(c, &output)
	return c
}

func stillGoing(ctx context.Context, key client.ObjectKey, timeout time.Duration) error {
	if ctx.Err() != nil {
		return &statusError{statusInterrupted, fmt.Errorf("interrupted, but BenchmarkRun %s is still running", key)}
	}
	return fmt.Errorf("BenchmarkRun %s is still running after %s: wait again, or see its progress with loadstone watch %s", key, timeout, key.Name)
}

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
	if err == nil && len(run.Status.Conditions) == 0 {
		err = k.Led(ctx, namespace)
	}
	return run, c, err
}
