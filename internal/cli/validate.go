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

const validateHelp = `Checks BenchmarkRun and BenchmarkSuite files without a cluster: schema, rules and plan. For a suite, it fills
in the parameters and checks each run, without contacting a registry. It prints all problems at once as
FILE:LINE: PROBLEM, with a fix. Use - for standard input.`

func validateCommand() *cobra.Command {
	output := textOutput
	c := &cobra.Command{
		Use:     "validate FILE...",
		Short:   "Check run and suite files without a cluster",
		Long:    validateHelp,
		Example: "  loadstone validate run.yaml\n  loadstone validate config/suites/*.yaml --output json\n  loadstone init | loadstone validate -",
		RunE: func(c *cobra.Command, files []string) error {
			return validateAll(c.Context(), c.OutOrStdout(), c.InOrStdin(), files, output)
		},
	}
	bindDataOutput(c, &output)
	bindFiles(c, "name the files to validate")
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
	err := printValue(out, output, all, func(out io.Writer) error {
		for _, one := range all {
			fmt.Fprintln(out, util.Printable(one.Text))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return notValid(bad, len(files))
}

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

// validateFile checks one file. The path "-" means in.
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

// readFile reads a file and returns its name for messages. The path "-" means in.
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
