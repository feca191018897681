package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/cli/lint"
)

const analyzeHelp = `Reads the output of wrk, ab and k6, and reports unreliable results. It needs no cluster, and the output may
come from any machine. A file may contain several runs and other text around them. Use - for standard input.
The exit code is 1 if a sample is void.`

func analyzeCommand() *cobra.Command {
	var asJSON bool
	output := textOutput
	c := &cobra.Command{
		Use:     "analyze FILE...",
		Aliases: []string{"analyse"},
		Short:   "Check wrk, ab and k6 output for unreliable results",
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

// analyze checks the samples in files. The name "-" means in.
func analyze(out io.Writer, in io.Reader, files []string, output outputFormat) error {
	var samples []lint.Sample
	for _, name := range files {
		found, err := readSamples(in, name)
		if err != nil {
			return badInput(err)
		}
		samples = append(samples, found...)
	}
	r := lint.Analyse(samples)
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
