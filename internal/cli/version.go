package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/base/util"
)

type build struct {
	Version string `json:"version"`
	// Commit is empty if unknown. Date is the date of the commit.
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild prefers what the Makefile set. go install records the commit of a Git checkout by itself.
func thisBuild() build {
	b := build{Version: util.Version, Commit: util.Commit, Date: util.CommitDate, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok || b.Commit != "" {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

func (b build) text(out io.Writer) error {
	const unknown = "unknown"
	_, err := fmt.Fprintf(out, "loadstone %s\ncommit:   %s\ndate:     %s\ngo:       %s\nplatform: %s\n",
		b.Version, cmp.Or(b.Commit, unknown), cmp.Or(b.Date, unknown), b.Go, b.Platform)
	return err
}

func versionCommand() *cobra.Command {
	output := textOutput
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit and date",
		Example: "  loadstone version\n  loadstone version --output json",
		Args:    exactly(0, "version takes no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			b := thisBuild()
			return printValue(c.OutOrStdout(), output, b, b.text)
		},
	}
	bindDataOutput(c, &output)
	return c
}
