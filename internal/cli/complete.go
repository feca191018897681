package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/client/kube"
)

// completeWithin bounds how long a shell waits for the names of runs.
const completeWithin = 3 * time.Second

// completeRuns lets a shell complete the names of the runs on the cluster. Where there is none it completes nothing.
func completeRuns(k *kube.Flags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		runs, err := listCluster(ctx, k, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []cobra.Completion
		for _, r := range runs {
			names = append(names, cobra.CompletionWithDesc(r.Name, r.State))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
