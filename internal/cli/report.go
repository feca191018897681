package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/kube"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/report"
)

const fetchDeadline = 2 * time.Minute

const reportHelp = `Fetches the report that the operator made of a run, and prints the path of its page, which needs nothing else: the operator hands it out to those
who may get the run. Beside the page lie report.md for a comment or a job's summary, report.csv for a spreadsheet, junit.xml for continuous integration and
report.json for programs. With --again the report is made from what the run has stored, by this version, which takes the key of the object store. Of a run
on this machine, give the folder of its results: its report lies there already.`

// reportCommand fetches a run's report from the object store, or rebuilds it, and prints the path of the HTML file.
func reportCommand(k *kube.Flags) *cobra.Command {
	var dir string
	var again, open bool
	c := &cobra.Command{
		Use:     "report RUN|FOLDER",
		Short:   "Fetch the report of a run from its cluster, or find it in a folder",
		Long:    reportHelp,
		Example: "  loadstone report quick --open\n  loadstone report quick --again --out reports",
		Args:    exactly(1, "name the run whose report you want"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), fetchDeadline)
			defer cancel()
			page, err := findReport(ctx, k, args[0], dir, again)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), page); err != nil || !open {
				return err
			}
			return openPage(ctx, page)
		},
	}
	f := c.Flags()
	f.StringVar(&dir, "out", reportFolder, "the folder `DIR` to write to")
	f.BoolVar(&again, "again", false, "rebuild the report from the manifests with this version")
	f.BoolVar(&open, "open", false, "open the report in a browser")
	return c
}

// findReport is the path of the page of a run, by the folder of its results or by its name on the cluster.
func findReport(ctx context.Context, k *kube.Flags, name, dir string, again bool) (string, error) {
	if _, err := os.Stat(filepath.Join(name, "manifest.json")); err == nil {
		return reportIn(ctx, name, again)
	}
	if err := noRunIn(name, strings.ContainsRune(name, filepath.Separator)); err != nil {
		return "", err
	}
	namespace, err := k.Namespace()
	if err != nil {
		return "", orHere(err)
	}
	page, err := kube.FetchReport(ctx, k, client.ObjectKey{Namespace: namespace, Name: name}, dir, again)
	return page, orHere(err)
}

// reportIn is the path of the newest report of a run on this machine, which is made again first if asked for.
func reportIn(ctx context.Context, folder string, again bool) (string, error) {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("naming the folder %s: %w", folder, err)
	}
	store, prefix := artifact.ReadFolder(filepath.Dir(whole)), filepath.Base(whole)
	if again {
		o, err := publish.Make(ctx, store, prefix)
		if err != nil {
			return "", fmt.Errorf("reporting %s again: %w", folder, err)
		}
		page, err := publish.Put(ctx, store, prefix, o.Files)
		return store.URI(page.Key), err
	}
	page := newestReport(whole, 0)
	if page == "" {
		return "", fmt.Errorf("the folder %s holds no report: loadstone report %s --again makes one", folder, folder)
	}
	return page, nil
}

// newestReport is the path of the newest report in the folder of a run, in one of its forms; empty without one.
func newestReport(folder string, form int) string {
	found, err := filepath.Glob(filepath.Join(folder, "reports", "*", report.FileNames()[form]))
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b string) int { return modified(a).Compare(modified(b)) })
}

// modified is when a file was written; the beginning of time if nobody knows.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// openPage opens a page in the browser of this machine.
func openPage(ctx context.Context, page string) error {
	for _, program := range []string{"xdg-open", "open"} {
		if path, err := exec.LookPath(program); err == nil {
			if err := exec.CommandContext(ctx, path, page).Run(); err != nil {
				return fmt.Errorf("opening %s: %w", page, err)
			}
			return nil
		}
	}
	return fmt.Errorf("this machine has neither xdg-open nor open: open %s in a browser", page)
}
