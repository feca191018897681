package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/run/progress"
)

type readyRun struct {
	file, name string
	told       screen.Teller
	lead       func(context.Context) error
	abandon    func()
}

type prepareRun func(ctx context.Context, out io.Writer, file string) (readyRun, error)

// runAll measures runs one after another, after it has checked all files. If a file is invalid, JSON output gets one end event.
func runAll(c *cobra.Command, files []string, output outputFormat, prepare prepareRun) error {
	ctx := c.Context()
	runs, err := prepareAll(ctx, c.OutOrStdout(), files, prepare)
	if err != nil {
		abandonAll(runs)
		return unled(screen.NewTeller(c.OutOrStdout(), output == jsonOutput), err)
	}
	if len(runs) == 1 {
		return runs[0].lead(ctx)
	}
	var codes []int
	good := 0
	for i, r := range runs {
		if ctx.Err() != nil {
			abandonAll(runs[i:])
			codes = append(codes, statusInterrupted)
			break
		}
		r.told.Note(fmt.Sprintf("run %d of %d: %s, from %s", i+1, len(runs), r.name, r.file))
		if err := orInterrupted(ctx, r.lead(ctx)); err != nil {
			fmt.Fprintf(util.PrintableWriter(c.ErrOrStderr()), "loadstone: %s: %v\n", r.file, err)
			codes = append(codes, status(err))
			continue
		}
		good++
	}
	if good == len(runs) {
		return nil
	}
	return &statusError{gravest(codes), fmt.Errorf("%d of %d runs ended with exit code 0", good, len(runs))}
}

// prepareAll checks all files and reports the problems of all. It also returns the valid runs.
func prepareAll(ctx context.Context, out io.Writer, files []string, prepare prepareRun) ([]readyRun, error) {
	var runs []readyRun
	var wrong severalErrors
	for _, file := range files {
		r, err := prepare(ctx, out, file)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if i := slices.IndexFunc(runs, func(other readyRun) bool { return other.name == r.name }); i >= 0 {
			wrong = append(wrong, badInput(fmt.Errorf("%s and %s both have the metadata.name %s: give each run a different name", runs[i].file, file, r.name)))
		}
		runs = append(runs, r)
	}
	if len(wrong) > 0 {
		return runs, wrong
	}
	return runs, nil
}

// unled prints a JSON end event for a run that did not start or end. Text output only has the error.
func unled(told screen.Teller, err error) error {
	e := progress.Ending{}
	e.Message = err.Error()
	if status(err) == statusBadInput {
		e.Reason = v1alpha1.ReasonInvalidSpec
	}
	if printed := told.Unreported(e); printed != nil {
		return printed
	}
	return err
}

func abandonAll(runs []readyRun) {
	for _, r := range runs {
		r.abandon()
	}
}
