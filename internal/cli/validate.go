package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/runfile"
)

const validateHelp = `Holds each file, of a BenchmarkRun or a BenchmarkSuite, against the schema and the rules of its kind, and then plans it, as a cluster would, without
one. Of a suite the parameters are filled in, each run is checked and planned, and no registry is asked. Everything that is wrong with a file is
printed at once, as FILE:LINE: what is wrong, and the way out. The file - is standard input.`

// validateCommand checks files without a cluster.
func validateCommand() *cobra.Command {
	output := textOutput
	c := &cobra.Command{
		Use:     "validate FILE...",
		Short:   "Check the files of runs and suites, without a cluster",
		Long:    validateHelp,
		Example: "  loadstone validate run.yaml\n  loadstone validate config/suites/*.yaml --output json\n  loadstone init | loadstone validate -",
		Args:    atLeastOne("name the files to validate"),
		RunE: func(c *cobra.Command, files []string) error {
			return validateAll(c.Context(), c.OutOrStdout(), c.InOrStdin(), files, output)
		},
	}
	bindOutput(c, &output)
	return c
}

func validateAll(ctx context.Context, out io.Writer, in io.Reader, files []string, output outputFormat) error {
	var all []runfile.Result
	bad := 0
	for _, file := range files {
		one, err := validateFile(ctx, in, file)
		if err != nil {
			return err
		}
		if !one.Valid {
			bad++
		}
		all = append(all, one)
	}
	if output == jsonOutput {
		if err := printJSON(out, all); err != nil {
			return err
		}
	} else {
		for _, one := range all {
			fmt.Fprintln(out, util.Printable(one.Text))
		}
	}
	return notValid(bad, len(files))
}

// notValid is the error of some of all files; nil if there are none.
func notValid(bad, all int) error {
	switch {
	case bad == 0:
		return nil
	case all == 1:
		return badInput(errors.New("the file is not valid"))
	case bad == 1:
		return badInput(fmt.Errorf("1 of %d files is not valid", all))
	}
	return badInput(fmt.Errorf("%d of %d files are not valid", bad, all))
}

// validateFile checks one file, or in if it is called "-".
func validateFile(ctx context.Context, in io.Reader, path string) (runfile.Result, error) {
	name, text, err := readFile(in, path)
	var r runfile.Result
	if err == nil {
		r, err = runfile.Validate(ctx, name, text, time.Now())
	} else {
		r, err = runfile.RefusedFile(name, err)
	}
	if err != nil {
		return r, badInput(err)
	}
	r.File = path
	return r, nil
}

// readFile reads a file, or in if it is called "-", and says by which name people know it.
func readFile(in io.Reader, path string) (name string, text []byte, err error) {
	if path != "-" {
		text, err = runfile.Read(path)
		return path, text, err
	}
	if text, err = io.ReadAll(in); err != nil {
		return "", nil, fmt.Errorf("reading standard input: %w", err)
	}
	return "stdin", text, nil
}
