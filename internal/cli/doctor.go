package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/cli/doctor"
	"loadstone.dev/loadstone/internal/client/kube"
)

const doctorHelp = `Checks that this machine is ready to benchmark, and says how to fix each problem. It changes nothing. To check
a cluster, use --cluster, --context, --namespace, --server or --kubeconfig.

  - fault: a run is refused, or its cells are void (exit code 1)
  - warning: void cells or noise are likely
  - note: a limit that reports mention`

func doctorCommand(k *kube.Flags, plugin bool) *cobra.Command {
	output := textOutput
	var onCluster bool
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Check that this machine or cluster is ready to benchmark",
		Long:    doctorHelp,
		Example: "  loadstone doctor\n  loadstone doctor --context kind-bench",
		Args:    exactly(0, "doctor takes no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if onCluster || !c.Flags().Changed("cluster") && k.Named(c.Flags()) {
				return diagnose(c.Context(), c.OutOrStdout(), output, func(ctx context.Context) ([]doctor.Finding, error) {
					seen, err := doctor.ReadCluster(ctx, k)
					return doctor.OfCluster(seen), err
				})
			}
			return diagnose(c.Context(), c.OutOrStdout(), output, func(ctx context.Context) ([]doctor.Finding, error) {
				seen, err := readMachine(ctx)
				return doctor.OfMachine(seen), err
			})
		},
	}
	c.Flags().BoolVar(&onCluster, "cluster", plugin, "check the current cluster")
	bindDataOutput(c, &output)
	return c
}

func diagnose(ctx context.Context, out io.Writer, output outputFormat, find func(context.Context) ([]doctor.Finding, error)) error {
	all, err := find(ctx)
	if err != nil {
		return err
	}
	err = printValue(out, output, all, func(out io.Writer) error {
		_, err := io.WriteString(out, doctor.Text(all))
		return err
	})
	if n := doctor.Faults(all); n > 0 && err == nil {
		return &statusError{statusFailed, fmt.Errorf("%d of %d checks found a fault", n, len(all))}
	}
	return err
}
