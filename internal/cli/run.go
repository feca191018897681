package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/runfile"
	"loadstone.dev/loadstone/internal/version"
)

const runHelp = `Leads the BenchmarkRun in FILE on this machine, without a cluster: processes instead of pods, a folder instead of an object store, the same
plan, checks and report. Each implementation needs its command, which is looked up in PATH or relative to the folder of FILE, and must listen
on its port. A load's script is a file in that folder: KEY, or CONFIGMAP/KEY.

Servers and load generators get CPUs of their own, and the report says which. Ctrl-C ends everything that was started and reports the blocks
that are complete.

With --cluster, --context, --namespace, --server or --kubeconfig, and as kubectl loadstone, the run is measured on the cluster: it is created there, followed
with the same lines, and its report is fetched. Each implementation needs its image. A run of the same name and spec that goes on is followed. Ctrl-C leaves
the run on the cluster.`

// The folders into which results and reports are written.
const (
	resultsFolder = "loadstone-results"
	reportFolder  = "reports"
)

// progressEvery is how often the line of progress changes on a terminal.
const progressEvery = time.Second

// runCommand leads a run on this machine, or follows it on a cluster, which a plugin of kubectl does unless it is told otherwise.
func runCommand(k *kube, plugin bool) *cobra.Command {
	var out string
	var onCluster bool
	remote := clusterRun{kube: k}
	c := &cobra.Command{
		Use:     "run FILE",
		Short:   "Measure a BenchmarkRun on this machine, or on a cluster",
		Long:    runHelp + "\n\nExit codes:\n\n" + codesText(),
		Example: "  loadstone run config/samples/local.yaml\n  loadstone run config/samples/quick.yaml --context kind-bench --open",
		Args:    oneRunFile,
		RunE: func(c *cobra.Command, files []string) error {
			if !onCluster && (c.Flags().Changed("cluster") || !k.named(c.Flags())) {
				return runHere(c.Context(), c.OutOrStdout(), files[0], out)
			}
			remote.out = cmp.Or(out, reportFolder)
			return remote.run(c.Context(), c.OutOrStdout(), files[0])
		},
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "the folder `DIR` for the results: plan, raw outputs, manifests and report (default loadstone-results/NAME-TIME); on a cluster for its report (default reports)")
	f.BoolVar(&onCluster, "cluster", plugin, "measure on the cluster of the current context")
	remote.bind(f)
	return c
}

// oneRunFile takes the file of one run.
func oneRunFile(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return badInput(fmt.Errorf("%s is one file too many: run one after the other, since two at a time would disturb each other", args[1]))
	}
	return exactly(1, "name the file of a run")(c, args)
}

// runHere leads a run on this machine.
func runHere(ctx context.Context, out io.Writer, file, to string) error {
	f, err := runfile.Open(ctx, file)
	if err != nil {
		return badInput(err)
	}
	shown := newScreen(out)
	r, err := local.New(ctx, runOptions(f.Run, file, to, shown))
	if err != nil {
		return f.Explain(err)
	}
	ending, err := r.Lead(ctx)
	shown.end()
	if err != nil {
		return err
	}
	return printEnding(out, ending)
}

func runOptions(run *v1alpha1.BenchmarkRun, file, out string, p *screen) local.Options {
	if out == "" {
		out = filepath.Join(resultsFolder, run.Name+"-"+time.Now().Format("20060102-150405"))
	}
	o := local.Options{Run: run, Folder: filepath.Dir(file), Out: out, Version: version.Version, Tell: p.tell}
	if whole, err := filepath.Abs(o.Folder); err == nil {
		o.Folder = whole
	}
	if p.live {
		o.Every = progressEvery
	}
	return o
}

// printEnding prints how a run has ended, and returns the error whose status says it.
func printEnding(out io.Writer, e local.Ending) error {
	if e.Verdict != nil && e.Verdict.Text != "" {
		if _, err := fmt.Fprintln(out, e.Verdict.Text); err != nil {
			return err
		}
	}
	if e.Report != "" {
		if _, err := fmt.Fprintln(out, "report: "+e.Report); err != nil {
			return err
		}
	}
	return statusOf(e)
}

// statusOf is the error whose status says how a run has ended; nil for 0.
func statusOf(e local.Ending) error {
	switch {
	case e.Reason == v1alpha1.ReasonInvalidSpec, e.Reason == v1alpha1.ReasonNotEnoughCPUs:
		return badInput(fmt.Errorf("%s: %s", e.Reason, e.Message))
	case e.Interrupted && e.Report == "":
		return &statusError{statusInterrupted, errors.New("interrupted before a block was complete: there is nothing to report")}
	case e.Interrupted:
		return &statusError{statusInterrupted, errors.New("interrupted: the report holds the complete blocks")}
	case e.Reason == v1alpha1.ReasonObjectivesMissed:
		return &statusError{statusMissed, errors.New(e.Message)}
	case e.Reason == v1alpha1.ReasonObjectivesUndecided:
		return &statusError{statusInconclusive, errors.New(e.Message)}
	case e.State != conduct.Succeeded:
		return &statusError{statusFailed, fmt.Errorf("%s: %s", e.Reason, e.Message)}
	case !e.Counts:
		return &statusError{statusInconclusive, errors.New("inconclusive: nothing that was measured counts, and the report says why")}
	case !e.Verdict.Conclusive && !e.Gated && e.Verdict.Reason != v1alpha1.ReasonNothingToCompare:
		return &statusError{statusInconclusive, fmt.Errorf("inconclusive: %s", e.Verdict.Reason)}
	}
	return nil
}

// isTerminal reports whether a writer is a terminal, on which a line can be replaced.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
