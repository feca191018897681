package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/cli/lint"
)

const analyzeHelp = `Reads the output of load tools, and reports unreliable results. It needs no cluster, and the output may come
from any machine. A file may contain several runs and other text around them, such as a log. Use - for standard input.
It reads wrk, wrk2, ab, k6, vegeta, hey, oha, bombardier, autocannon, h2load, fortio, JMeter and Locust.
The exit code is 1 if a sample is void, and 2 if something could not be read.`

func analyzeCommand() *cobra.Command {
	var asJSON bool
	output := textOutput
	c := &cobra.Command{
		Use:     "analyze FILE...",
		Aliases: []string{"analyse"},
		Short:   "Check the output of load tools for unreliable results",
		Long:    analyzeHelp,
		Example: "  loadstone analyze wrk.txt\n  wrk -t1 -c10 -d10s http://127.0.0.1:8080/ | loadstone analyze -",
		Args:    atLeastOne("name the files to analyze"),
		RunE: func(c *cobra.Command, files []string) error {
			if asJSON {
				output = jsonOutput
			}
			return analyze(c.OutOrStdout(), c.InOrStdin(), files, output)
		},
	}
	bindDataOutput(c, &output)
	c.Flags().BoolVar(&asJSON, "json", false, "same as --output json")
	c.Flags().Lookup("json").Hidden = true // Scripts from before --output use it.
	return c
}

// The name "-" means in. A file that cannot be read hides no other.
func analyze(out io.Writer, in io.Reader, files []string, output outputFormat) error {
	var samples []lint.Sample
	var refusals []lint.Refusal
	for _, name := range files {
		found, refused := readSamples(in, name)
		samples, refusals = append(samples, found...), append(refusals, refused...)
	}
	r := lint.Analyse(samples, refusals)
	err := printValue(out, output, r, func(out io.Writer) error {
		_, err := io.WriteString(out, lint.Text(r))
		return err
	})
	if err != nil {
		return err
	}
	if void := r.Void(); void > 0 {
		return &statusError{statusFailed, fmt.Errorf("%d of %d samples are void", void, len(samples))}
	}
	if len(refusals) > 0 {
		err := fmt.Errorf("reading %s: %s", refusals[0].Place(), refusals[0].Why)
		if more := len(refusals) - 1; more > 0 {
			err = fmt.Errorf("%w (and %d more)", err, more)
		}
		return badInput(err)
	}
	return nil
}

func readSamples(in io.Reader, name string) ([]lint.Sample, []lint.Refusal) {
	if name == "-" {
		return lint.Parse("stdin", in)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, []lint.Refusal{{File: name, Why: err.Error()}}
	}
	defer func() { _ = file.Close() }() // It was only read.
	return lint.Parse(name, file)
}
