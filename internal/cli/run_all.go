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

// readyRun is the run of a file that was checked, with all that it needs to begin.
type readyRun struct {
	file, name string
	told       screen.Teller
	// lead leads it to its end. The error's status says how it has ended; nil for 0.
	lead func(context.Context) error
	// abandon gives back what it holds, if it is not led.
	abandon func()
}

// prepareRun checks the run of a file, and makes it ready.
type prepareRun func(ctx context.Context, out io.Writer, file string) (readyRun, error)

// runAll leads the runs of some files, one after the other, once all of them are ready. If they are not, programs read the end of all at once.
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
		r.told.Note(fmt.Sprintf("run %d of %d: %s, of %s", i+1, len(runs), r.name, r.file))
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
	return &statusError{gravest(codes), fmt.Errorf("%d of %d runs have ended with code 0", good, len(runs))}
}

// prepareAll makes the runs of all files ready, or says of all what is wrong with them. What is ready then is returned all the same.
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
			wrong = append(wrong, badInput(fmt.Errorf("%s and %s hold runs of one name, %s: give each a metadata.name of its own", runs[i].file, file, r.name)))
		}
		runs = append(runs, r)
	}
	if len(wrong) > 0 {
		return runs, wrong
	}
	return runs, nil
}

// unled tells programs why a run was not led, or not to its end. People read it as the error of the command.
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
