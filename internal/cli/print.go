package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// outputFormat is the form in which a command prints what it has found.
type outputFormat string

const (
	textOutput outputFormat = "text"
	jsonOutput outputFormat = "json"
)

// String implements pflag.Value.
func (f *outputFormat) String() string { return string(*f) }

// Type implements pflag.Value: it is how help names the value.
func (f *outputFormat) Type() string { return "FORMAT" }

// Set implements pflag.Value.
func (f *outputFormat) Set(text string) error {
	if text != string(textOutput) && text != string(jsonOutput) {
		return fmt.Errorf("choose %s or %s", textOutput, jsonOutput)
	}
	*f = outputFormat(text)
	return nil
}

// bindOutput gives a command the flag --output.
func bindOutput(c *cobra.Command, into *outputFormat) {
	c.Flags().VarP(into, "output", "o", "text for people, or json for programs")
}

// printJSON prints a value for programs.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}
