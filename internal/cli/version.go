package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/base/util"
)

// versionCommand prints which version this is.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  exactly(0, "version takes no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "loadstone %s %s %s/%s\n", util.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
