package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/local/folders"
)

const fetchDeadline = 2 * time.Minute

const reportHelp = `Downloads the report of a run and prints the path of its HTML page. The operator provides it to everyone who
may get the run. These files are next to the page:

  - report.md for a comment or a job summary
  - report.csv for a spreadsheet
  - junit.xml for continuous integration
  - report.json for programs

With --again, this version rebuilds the report from the stored results. That needs the credentials of the
object store. For a run on this machine, give its results folder, which already contains the report.`

func reportCommand(k *kube.Flags) *cobra.Command {
	var dir string
	var again, open bool
	c := &cobra.Command{
		Use:     "report RUN|FOLDER",
		Short:   "Download the report of a run, or find it in a results folder",
		Long:    reportHelp,
		Example: "  loadstone report quick --open\n  loadstone report quick --again --out reports",
		Args:    exactly(1, "name one run"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), fetchDeadline)
			defer cancel()
			page, err := findReport(ctx, k, args[0], dir, again)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), util.Printable(page)); err != nil || !open {
				return err
			}
			return openPage(ctx, page)
		},
	}
	f := c.Flags()
	f.StringVar(&dir, "out", reportFolder, "write the report to `DIR`")
	f.BoolVar(&again, "again", false, "rebuild the report from the stored results with this version")
	f.BoolVar(&open, "open", false, "open the report in a browser")
	return c
}

// findReport returns the HTML page of a run, given its results folder or its name on the cluster.
func findReport(ctx context.Context, k *kube.Flags, name, dir string, again bool) (string, error) {
	if folders.Holds(name) {
		return folders.Report(ctx, name, again)
	}
	if err := folders.Check(name, strings.ContainsRune(name, filepath.Separator)); err != nil {
		return "", badInput(err)
	}
	namespace, err := k.Namespace()
	if err != nil {
		return "", orHere(err)
	}
	page, err := kube.FetchReport(ctx, k, client.ObjectKey{Namespace: namespace, Name: name}, dir, again)
	return page, orHere(err)
}

func openPage(ctx context.Context, page string) error {
	for _, program := range []string{"xdg-open", "open"} {
		if path, err := exec.LookPath(program); err == nil {
			if err := exec.CommandContext(ctx, path, page).Run(); err != nil {
				return fmt.Errorf("opening %s: %w", page, err)
			}
			return nil
		}
	}
	return fmt.Errorf("found neither xdg-open nor open: open %s in a browser", page)
}
