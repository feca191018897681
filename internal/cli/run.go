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
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

const runHelp = `Measures the BenchmarkRun in FILE on this machine, without a cluster. It uses processes instead of pods and a
folder instead of an object store. Plan, checks and report are the same.

Implementations: an implementation is a command that listens on its port. The command is searched in PATH, or
relative to the folder of FILE. An implementation runs in its image if it has no command, or if the image is a
path. A path is an archive that docker save wrote, such as ./server.tar, or the folder of an OCI layout. With
--images, every implementation that has an image runs in it. An image name is searched in docker, podman,
buildah and containerd, and then in its registry. The image is unpacked once, into your cache folder. Images
run in a sandbox, which needs Linux 5.14 and user namespaces.

Scripts and bodies (bodyFrom) are files in the folder of FILE, named KEY or CONFIGMAP/KEY. Profiles use
valgrind and strace from PATH, unless the implementation runs in an image.

CPUs: servers and load generators get separate CPUs, which the report lists.

Interrupting: Ctrl-C stops all processes and reports the complete blocks. If loadstone itself is killed, no
process is left running. Resume the run with --resume. Complete blocks are kept. Incomplete blocks are
repeated as a whole, because only trials of the same time are comparable. Their old results stay in the folder
but not in the report. FILE, its scripts and the CPUs must be unchanged. A complete run is only reported
again.

Input and output: use - for standard input, with paths relative to the current folder. A terminal shows a live
view; otherwise each trial prints one line. --output json prints one JSON object per line for each event. The
last line describes the end of the run.

Several files: runs are measured one after another, so they do not disturb each other. All files are checked
before the first run starts. If a run fails, the next one still starts. Ctrl-C stops all. --out and --resume
need a single file.

Cluster: with --cluster, --context, --namespace, --server or --kubeconfig, and as kubectl loadstone, the run
is measured on the cluster. The command creates the run, follows it and downloads its report. Each
implementation needs an image. If a run with the same name and spec is in progress, the command follows it.
Ctrl-C leaves the run on the cluster.`

// Default folders.
const (
	resultsFolder = "loadstone-results"
	reportFolder  = "reports"
)

const progressEvery = time.Second

// runCommand measures on this machine or on a cluster. A kubectl plugin uses the cluster by default.
func runCommand(k *kube.Flags, plugin bool) *cobra.Command {
	here := localRun{output: textOutput}
	var onCluster bool
	remote := clusterRun{kube: k}
	c := &cobra.Command{
		Use:     "run FILE...",
		Short:   "Measure BenchmarkRuns on this machine or on a cluster",
		Long:    runHelp + "\n\nExit codes:\n\n" + codesText() + "\n\nWith several files, the exit code is the most severe one, in this order: " + gravityText() + ".",
		Example: "  loadstone run config/samples/local.yaml\n  loadstone run config/samples/quick.yaml --context kind-bench --open",
		RunE: func(c *cobra.Command, files []string) error {
			if err := here.refuseFlags(files); err != nil {
				return err
			}
			here.in, remote.in = c.InOrStdin(), c.InOrStdin()
			if measuredHere(c, k, onCluster) {
				if err := remote.refuseFlags(); err != nil {
					return err
				}
				if err := refuseHere(c.OutOrStdout(), here.output); err != nil {
					return err
				}
				return runAll(c, files, here.output, here.prepare)
			}
			if here.resume {
				return badInput(errors.New("--resume works only on this machine: remove it. The operator resumes runs on the cluster"))
			}
			remote.out, remote.output, remote.open = cmp.Or(here.out, reportFolder), here.output, here.open
			return runAll(c, files, here.output, remote.prepare)
		},
	}
	f := c.Flags()
	f.StringVar(&here.out, "out", "", "write plan, raw output, manifests and report to `DIR` (default loadstone-results/NAME-TIME); on a cluster: write the report (default reports)")
	f.BoolVar(&here.images, "images", false, "run implementations with both an image and a command in the image")
	f.BoolVar(&here.resume, "resume", false, "resume the run in --out (default: the newest with this name); start it if there is none")
	f.BoolVar(&here.open, "open", false, "open the report in a browser")
	bindOutput(c, &here.output, textOutput, jsonOutput)
	bindFiles(c, "name a run file")
	f.BoolVar(&onCluster, "cluster", plugin, "measure on the current cluster")
	remote.bind(f)
	return c
}

// measuredHere reports whether a command measures this machine: unless --cluster or another flag names a cluster.
func measuredHere(c *cobra.Command, k *kube.Flags, onCluster bool) bool {
	return !onCluster && (c.Flags().Changed("cluster") || !k.Named(c.Flags()))
}

// measurement is a checked run on this machine.
type measurement interface {
	Lead(ctx context.Context) (progress.Ending, error)
	Abandon()
}

// refuseHere refuses commands that measure this machine if it cannot be measured.
func refuseHere(out io.Writer, output outputFormat) error {
	err := cannotMeasure()
	if err == nil {
		return nil
	}
	return unled(screen.NewTeller(out, output == jsonOutput), err)
}

type localRun struct {
	in                   io.Reader
	out                  string
	resume, images, open bool
	output               outputFormat
}

// refuseFlags refuses flags that need a single file.
func (h localRun) refuseFlags(files []string) error {
	if len(files) == 1 {
		return nil
	}
	refused := func(flag string) error {
		return badInput(fmt.Errorf("--%s needs a single file, and you gave %d: remove --%s, or name one file", flag, len(files), flag))
	}
	switch {
	case h.out != "":
		return refused("out")
	case h.resume:
		return refused("resume")
	}
	return nil
}

func (h localRun) prepare(ctx context.Context, out io.Writer, file string) (readyRun, error) {
	f, err := openRun(ctx, h.in, file)
	if err != nil {
		return readyRun{}, err
	}
	return h.prepareFile(ctx, out, file, localOptions{Folder: filepath.Dir(file)}, f)
}

// prepareFile checks the run of a file. Its relative paths begin in the folders of the options.
func (h localRun) prepareFile(ctx context.Context, out io.Writer, file string, at localOptions, f *runfile.File) (readyRun, error) {
	told := screen.NewTeller(out, h.output == jsonOutput)
	o := runOptions(f.Run, at.Folder, h.out, told)
	o.Folders = at.Folders
	o.Images = h.images
	if err := resumeIn(&o, h.out, h.resume); err != nil {
		return readyRun{}, err
	}
	r, err := newMeasurement(ctx, o)
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

// openRun reads the run in a file. The path "-" means in.
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

func runOptions(run *v1alpha1.BenchmarkRun, folder, out string, told screen.Teller) localOptions {
	if out == "" {
		out = filepath.Join(resultsFolder, run.Name+"-"+time.Now().Format(folders.FolderTime))
	}
	o := localOptions{Run: run, Folder: folder, Out: out, Version: util.Version, Tell: told.Tell}
	if whole, err := filepath.Abs(o.Folder); err == nil {
		o.Folder = whole
	}
	if told.Live() {
		o.Every = progressEvery
	}
	return o
}

// resumeIn selects the folder to resume in: the named one, or the newest with the name of the run.
func resumeIn(o *localOptions, named string, resume bool) error {
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

// ended prints how a run ended, opens its report if requested, and returns an error with the exit code. After an
// interruption it opens nothing.
func ended(ctx context.Context, told screen.Teller, e progress.Ending, open bool) error {
	if err := told.End(e); err != nil {
		return err
	}
	if !open || e.Report == "" || e.Interrupted {
		return statusOf(e)
	}
	return errors.Join(statusOf(e), openPage(ctx, e.Report))
}

const goOn = "a run of a file is resumed with loadstone run FILE --resume, and --out if you used it"

// refusals are the reasons for refusing a run before anything starts.
var refusals = []string{v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNotEnoughCPUs, v1alpha1.ReasonNotEnoughMemory, v1alpha1.ReasonNotEnoughResources, v1alpha1.ReasonObjectMissing}

// statusOf returns an error with the exit code of a run; nil for 0.
func statusOf(e progress.Ending) error {
	switch {
	case slices.Contains(refusals, e.Reason):
		return badInput(fmt.Errorf("%s: %s", e.Reason, e.Message))
	case e.Interrupted && e.Report == "":
		return &statusError{statusInterrupted, errors.New("interrupted before the first complete block, so there is no report: " + goOn)}
	case e.Interrupted:
		return &statusError{statusInterrupted, errors.New("interrupted: the report contains the complete blocks; " + goOn)}
	case e.Reason == v1alpha1.ReasonObjectivesMissed:
		return &statusError{statusMissed, errors.New(e.Message)}
	case e.Reason == v1alpha1.ReasonObjectivesUndecided:
		return &statusError{statusInconclusive, errors.New(e.Message)}
	case e.State != conduct.Succeeded:
		return &statusError{statusFailed, fmt.Errorf("%s: %s", e.Reason, e.Message)}
	case !e.Counts:
		return &statusError{statusInconclusive, errors.New("inconclusive: no measurement counts; see the report")}
	case e.Open() != "":
		return &statusError{statusInconclusive, fmt.Errorf("inconclusive: %s", e.Open())}
	}
	return nil
}
