package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/cli/lint"
)

const analyzeHelp = `Reads what wrk, ab and k6 printed, from anywhere and without a cluster, and reports what in it is not credible. A file may hold several runs
and the text of a report around them; - is standard input. The exit code is 1 if a sample is void.`

// analyzeCommand judges raw outputs of load generators.
func analyzeCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "analyze FILE...",
		Aliases: []string{"analyse"},
		Short:   "Report what in outputs of wrk, ab and k6 is not credible",
		Long:    analyzeHelp,
		Example: "  loadstone analyze wrk.txt\n  wrk -t1 -c10 -d10s http://127.0.0.1:8080/ | loadstone analyze -",
		Args:    atLeastOne("name the files to analyze"),
		RunE: func(c *cobra.Command, files []string) error {
			return analyze(c.OutOrStdout(), c.InOrStdin(), files, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON for programs")
	return c
}

// analyze judges the samples of files, or of in where a name is "-".
func analyze(out io.Writer, in io.Reader, files []string, asJSON bool) error {
	var samples []lint.Sample
	for _, name := range files {
		found, err := readSamples(in, name)
		if err != nil {
			return badInput(err)
		}
		samples = append(samples, found...)
	}
	r := lint.Analyse(samples)
	if err := printAnalysis(out, r, asJSON); err != nil {
		return err
	}
	if void := r.Void(); void > 0 {
		return &statusError{statusFailed, fmt.Errorf("%d of %d samples are void", void, len(samples))}
	}
	return nil
}

func readSamples(in io.Reader, name string) ([]lint.Sample, error) {
	if name == "-" {
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return lint.Parse("stdin", text)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a raw output: %w", err)
	}
	return lint.Parse(name, text)
}

func printAnalysis(out io.Writer, r lint.Report, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(out, lint.Text(r))
		return err
	}
	return printJSON(out, r)
}
