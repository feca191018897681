package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/cli/doctor"
	"loadstone.dev/loadstone/internal/client/kube"
)

const doctorHelp = `Looks at this machine, or with --cluster, --context, --namespace, --server or --kubeconfig at a cluster, and says what it lacks for a truthful
run, and the way out of each. It changes nothing. A fault is what refuses a run or voids its cells, and ends with exit code 1; a warning is what
makes void cells or noise likely; a note is a limit that reports state.`

// doctorCommand says what a machine or a cluster lacks.
func doctorCommand(k *kube.Flags, plugin bool) *cobra.Command {
	output := textOutput
	var onCluster bool
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Report what this machine, or a cluster, lacks for a truthful run",
		Long:    doctorHelp,
		Example: "  loadstone doctor\n  loadstone doctor --context kind-bench",
		Args:    exactly(0, "doctor takes no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			if onCluster || !c.Flags().Changed("cluster") && k.Named(c.Flags()) {
				return diagnose(c.Context(), c.OutOrStdout(), output, func(ctx context.Context) ([]doctor.Finding, error) {
					seen, err := doctor.ReadCluster(ctx, k)
					return doctor.OfCluster(seen), err
				})
			}
			return diagnose(c.Context(), c.OutOrStdout(), output, func(ctx context.Context) ([]doctor.Finding, error) {
				seen, err := doctor.ReadMachine(ctx)
				return doctor.OfMachine(seen), err
			})
		},
	}
	c.Flags().BoolVar(&onCluster, "cluster", plugin, "look at the cluster of the current context")
	bindOutput(c, &output)
	return c
}

// diagnose prints what was found. Faults are an error.
func diagnose(ctx context.Context, out io.Writer, output outputFormat, find func(context.Context) ([]doctor.Finding, error)) error {
	all, err := find(ctx)
	if err != nil {
		return err
	}
	if output == jsonOutput {
		err = printJSON(out, all)
	} else {
		_, err = io.WriteString(out, doctor.Text(all))
	}
	if n := doctor.Faults(all); n > 0 && err == nil {
		return &statusError{statusFailed, fmt.Errorf("%d of %d checks found a fault", n, len(all))}
	}
	return err
}
