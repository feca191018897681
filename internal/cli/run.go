package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

const runHelp = `Leads the BenchmarkRun in FILE on this machine, without a cluster: processes instead of pods, a folder instead of an object store, the same
plan, checks and report. An implementation is its command, which is looked up in PATH or relative to the folder of FILE, and must listen on its port.
One without a command runs in its image, and so does one whose image is a path, such as ./server.tar, which docker save has made, or the folder of an
OCI layout; --images makes all run in their images that have one. A name is looked for in the stores of docker, podman, buildah and containerd, and then
in its registry. The image is unpacked below the user's cache, once; it needs Linux 5.12, and root or a user namespace. A load's script, and a body that
a request names by bodyFrom, are files in that folder: KEY, or CONFIGMAP/KEY. Profiles take valgrind and strace from PATH, of implementations
that do not run in an image.

Servers and load generators get CPUs of their own, and the report says which. Ctrl-C ends everything that was started and reports the blocks
that are complete. A run whose process is killed leaves no process either.

With --resume such a run goes on. Blocks that were complete are kept; an incomplete one is measured again as a whole, since only trials of one time
are compared with each other, and what was measured of it stays in the folder and out of the report. FILE, its scripts and the CPUs must be what they
were. A run that is complete is reported again; where nothing was begun, the run begins.

The file - is standard input, whose relative paths begin in the current folder.

Several runs are led one after the other, since two at a time would disturb each other. All files are checked before the first run begins. A run that
fails does not keep the next one from beginning; Ctrl-C does. --out and --resume are for one run.

A terminal shows a live view, anything else a line for each trial; --output json prints an object a line for everything that happens, the last one for
the end.

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
func runCommand(k *kube.Flags, plugin bool) *cobra.Command {
	var here localRun
	var onCluster bool
	remote := clusterRun{kube: k}
	c := &cobra.Command{
		Use:     "run FILE...",
		Short:   "Measure BenchmarkRuns on this machine, or on a cluster",
		Long:    runHelp + "\n\nExit codes:\n\n" + codesText() + "\n\nThat of several runs is the gravest of them, from the left: " + gravityText() + ".",
		Example: "  loadstone run config/samples/local.yaml\n  loadstone run config/samples/quick.yaml --context kind-bench --open",
		Args:    atLeastOne("name the file of a run"),
		RunE: func(c *cobra.Command, files []string) error {
			if err := here.refuseFlags(files); err != nil {
				return err
			}
			here.in, remote.in = c.InOrStdin(), c.InOrStdin()
			if measuredHere(c, k, onCluster) {
				if err := remote.refuseFlags(); err != nil {
					return err
				}
				return runAll(c, files, here.output, here.prepare)
			}
			if here.resume {
				return badInput(errors.New("--resume goes on with a run on this machine: a run on the cluster goes on without it, so remove --resume"))
			}
			remote.out, remote.output, remote.open = cmp.Or(here.out, reportFolder), here.output, here.open
			return runAll(c, files, here.output, remote.prepare)
		},
	}
	f := c.Flags()
	f.StringVar(&here.out, "out", "", "the folder `DIR` for the results: plan, raw outputs, manifests and report (default loadstone-results/NAME-TIME); on a cluster for its report (default reports)")
	f.BoolVar(&here.images, "images", false, "run implementations that have both an image and a command in the image")
	f.BoolVar(&here.resume, "resume", false, "go on with the run in the folder of --out, or else in the newest of its name, which was killed or interrupted, or begin it")
	f.BoolVar(&here.open, "open", false, "open the report in a browser")
	bindOutput(c, &here.output)
	f.BoolVar(&onCluster, "cluster", plugin, "measure on the cluster of the current context")
	remote.bind(f)
	return c
}

// measuredHere reports whether a command measures this machine: unless --cluster or another flag names a cluster.
func measuredHere(c *cobra.Command, k *kube.Flags, onCluster bool) bool {
	return !onCluster && (c.Flags().Changed("cluster") || !k.Named(c.Flags()))
}

// localRun is how a run is led on this machine.
type localRun struct {
	// in is where the file "-" is read.
	in                   io.Reader
	out                  string
	resume, images, open bool
	output               outputFormat
}

// refuseFlags says in a sentence that a flag of one run is given to several.
func (h localRun) refuseFlags(files []string) error {
	if len(files) == 1 {
		return nil
	}
	refused := func(flag string) error {
		return badInput(fmt.Errorf("--%s is for one run, and %d files are given: remove --%s, or give one file", flag, len(files), flag))
	}
	switch {
	case h.out != "":
		return refused("out")
	case h.resume:
		return refused("resume")
	}
	return nil
}

// prepare makes a run on this machine ready.
func (h localRun) prepare(ctx context.Context, out io.Writer, file string) (readyRun, error) {
	f, err := openRun(ctx, h.in, file)
	if err != nil {
		return readyRun{}, err
	}
	told := screen.NewTeller(out, h.output == jsonOutput)
	o := runOptions(f.Run, file, h.out, told)
	o.Images = h.images
	if err := resumeIn(&o, h.out, h.resume); err != nil {
		return readyRun{}, err
	}
	r, err := local.New(ctx, o)
	if err != nil {
		return readyRun{}, f.Explain(err)
	}
	lead := func(ctx context.Context) error {
		ending, err := r.Lead(ctx)
		if err != nil {
			return unled(told, err)
		}
		return ended(ctx, told, ending, h.open)
	}
	return readyRun{file: file, name: f.Run.Name, told: told, lead: lead, abandon: r.Abandon}, nil
}

// openRun reads the run of a file, or of in if it is called "-".
func openRun(ctx context.Context, in io.Reader, path string) (*runfile.File, error) {
	name, text, err := readFile(in, path)
	if err != nil {
		return nil, badInput(err)
	}
	f, err := runfile.Named(ctx, name, text)
	if err != nil {
		return nil, badInput(err)
	}
	return f, nil
}

func runOptions(run *v1alpha1.BenchmarkRun, file, out string, told screen.Teller) local.Options {
	if out == "" {
		out = filepath.Join(resultsFolder, run.Name+"-"+time.Now().Format(folders.FolderTime))
	}
	o := local.Options{Run: run, Folder: filepath.Dir(file), Out: out, Version: util.Version, Tell: told.Tell}
	if whole, err := filepath.Abs(o.Folder); err == nil {
		o.Folder = whole
	}
	if told.Live() {
		o.Every = progressEvery
	}
	return o
}

// resumeIn makes a run go on in the folder that was named, or else in the newest of its name. Where there is none, it begins.
func resumeIn(o *local.Options, named string, resume bool) error {
	o.Resume = resume
	if !resume || named != "" {
		return nil
	}
	newest, err := folders.Newest(resultsFolder, o.Run.Name)
	if newest != "" {
		o.Out = newest
	}
	return err
}

// ended tells how a run has ended, opens its report if asked to, and returns the error whose status says it. Somebody who has ended the run waits
// for no page.
func ended(ctx context.Context, told screen.Teller, e progress.Ending, open bool) error {
	if err := told.End(e); err != nil {
		return err
	}
	if !open || e.Report == "" || e.Interrupted {
		return statusOf(e)
	}
	return errors.Join(statusOf(e), openPage(ctx, e.Report))
}

// goOn is the way on after an interruption.
const goOn = "go on with loadstone run FILE --resume, and with --out if it was given"

// refusals are the reasons of runs that ask for what cannot be given, before anything starts.
var refusals = []string{v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNotEnoughCPUs, v1alpha1.ReasonNotEnoughMemory, v1alpha1.ReasonNotEnoughResources, v1alpha1.ReasonObjectMissing}

// statusOf is the error whose status says how a run has ended; nil for 0.
func statusOf(e progress.Ending) error {
	switch {
	case slices.Contains(refusals, e.Reason):
		return badInput(fmt.Errorf("%s: %s", e.Reason, e.Message))
	case e.Interrupted && e.Report == "":
		return &statusError{statusInterrupted, errors.New("interrupted before a block was complete, so there is nothing to report: " + goOn)}
	case e.Interrupted:
		return &statusError{statusInterrupted, errors.New("interrupted: the report holds the complete blocks; " + goOn)}
	case e.Reason == v1alpha1.ReasonObjectivesMissed:
		return &statusError{statusMissed, errors.New(e.Message)}
	case e.Reason == v1alpha1.ReasonObjectivesUndecided:
		return &statusError{statusInconclusive, errors.New(e.Message)}
	case e.State != conduct.Succeeded:
		return &statusError{statusFailed, fmt.Errorf("%s: %s", e.Reason, e.Message)}
	case !e.Counts:
		return &statusError{statusInconclusive, errors.New("inconclusive: nothing that was measured counts, and the report says why")}
	case e.Open() != "":
		return &statusError{statusInconclusive, fmt.Errorf("inconclusive: %s", e.Open())}
	}
	return nil
}
