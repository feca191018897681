package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/runfile"
	"loadstone.dev/loadstone/internal/screen"
	"loadstone.dev/loadstone/internal/version"
)

// The exit statuses of loadstone run.
const (
	statusFailed       = 1
	statusMissed       = 3
	statusInconclusive = 4
	statusInterrupted  = 130
)

// resultsFolder is where the folders of runs lie that were given no other.
const resultsFolder = "loadstone-results"

const runHelp = `usage: loadstone run [--out DIR] [--resume] [--output FORMAT] FILE

Leads the BenchmarkRun in FILE on this machine, without a cluster: processes instead of pods, a folder instead of an object store, the same
plan, checks and report. Each implementation needs its command, which is looked up in PATH or relative to the folder of FILE, and must listen
on its port. A load's script is a file in that folder: KEY, or CONFIGMAP/KEY.

  --out DIR   the folder for the results: plan, raw outputs, manifests and report
              (default loadstone-results/NAME-TIME)
  --resume    go on with the run in that folder, or without --out in the newest one of its name, which was killed or interrupted. Blocks that
              were complete are kept; an incomplete one is measured again as a whole, since only trials of one time are compared with each
              other, and what was measured of it stays in the folder and out of the report. FILE, its scripts and the CPUs must be what
              they were. A run that is complete is reported again; where nothing was begun, the run begins

  --output FORMAT
              text, with a live view on a terminal, or json: an object a line for everything that happens, the last one for the end
              (default text)

Servers and load generators get CPUs of their own, and the report says which. Ctrl-C ends everything that was started and reports the blocks
that are complete. A run whose process is killed leaves no process either.

exit status:
    0   every objective is met; without objectives, every comparison has a verdict
    1   the run has failed
    2   the file, or what it asks of this machine, is not valid: nothing was started
    3   an objective is missed
    4   inconclusive: an objective is undecided; without objectives, a comparison has no verdict
  130   interrupted`

// progressEvery is how often the line of progress changes on a terminal.
const progressEvery = time.Second

// runCommand leads a run on this machine.
func runCommand(ctx context.Context, out io.Writer, args []string) error {
	f := flag.NewFlagSet("loadstone run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	output := f.String("output", "text", "text or json")
	to := f.String("out", "", "the folder for the results")
	resume := f.Bool("resume", false, "go on with a run that was killed or interrupted")
	file, err := parseRun(f, args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = fmt.Fprintln(out, runHelp)
		return err
	}
	if err != nil {
		return &statusError{statusBadInput, err}
	}
	run, err := runfile.Read(ctx, file)
	if err != nil {
		return &statusError{statusBadInput, err}
	}
	if *output != "text" && *output != "json" {
		return &statusError{statusBadInput, fmt.Errorf("--output is text or json, not %q", *output)}
	}
	shown, ended := screen.New(out), printEnding
	o := runOptions(run, file, *to, shown)
	if *output == "json" {
		objects := screen.NewJSON(out)
		o.Tell, ended = objects.Tell, jsonEnding
	}
	if err := resumeIn(&o, *to, *resume); err != nil {
		return err
	}
	r, err := local.New(ctx, o)
	if err != nil {
		if v := (*plan.Violation)(nil); errors.As(err, &v) {
			return &statusError{statusBadInput, fmt.Errorf("%s: %w", file, err)}
		}
		return err
	}
	ending, err := r.Lead(ctx)
	shown.End()
	if err != nil {
		return err
	}
	return ended(out, ending)
}

// parseRun reads flags before and after the name of the file.
func parseRun(f *flag.FlagSet, args []string) (file string, err error) {
	if err := f.Parse(args); err != nil {
		return "", fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() == 0 {
		return "", errors.New("name the file of a run: loadstone run FILE, or see loadstone run --help")
	}
	file = f.Arg(0)
	if err := f.Parse(f.Args()[1:]); err != nil {
		return "", fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() > 0 {
		return "", fmt.Errorf("%s is one file too many: run one after the other, since two at a time would disturb each other", f.Arg(0))
	}
	return file, nil
}

func runOptions(run *v1alpha1.BenchmarkRun, file, out string, p *screen.Screen) local.Options {
	if out == "" {
		out = filepath.Join(resultsFolder, run.Name+"-"+time.Now().Format(local.FolderTime))
	}
	o := local.Options{Run: run, Folder: filepath.Dir(file), Out: out, Version: version.Version, Tell: p.Tell}
	if whole, err := filepath.Abs(o.Folder); err == nil {
		o.Folder = whole
	}
	if p.Live() {
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
	newest, err := local.Newest(resultsFolder, o.Run.Name)
	if newest != "" {
		o.Out = newest
	}
	return err
}

// printEnding prints how a run has ended, and returns the error whose status says it.
func printEnding(out io.Writer, e local.Ending) error {
	if e.Verdict != nil {
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

// jsonEnding prints the same for programs.
func jsonEnding(out io.Writer, e local.Ending) error {
	if err := screen.NewJSON(out).End(e); err != nil {
		return err
	}
	return statusOf(e)
}

// statusOf is the error whose status says how a run has ended; nil for 0.
func statusOf(e local.Ending) error {
	switch {
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
