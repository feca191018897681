package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

type outputFormat string

const (
	textOutput outputFormat = "text"
	jsonOutput outputFormat = "json"
	yamlOutput outputFormat = "yaml"
)

type formatFlag struct {
	into    *outputFormat
	allowed []string
}

// String implements pflag.Value.
func (f formatFlag) String() string {
	if f.into == nil {
		return ""
	}
	return string(*f.into)
}

// Type implements pflag.Value. Help prints it as the name of the value.
func (f formatFlag) Type() string { return "FORMAT" }

// Set implements pflag.Value.
func (f formatFlag) Set(text string) error {
	if !slices.Contains(f.allowed, text) {
		return fmt.Errorf("choose %s", listed(f.allowed))
	}
	*f.into = outputFormat(text)
	return nil
}

// listed joins names, such as "text, json or yaml".
func listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func bindOutput(c *cobra.Command, into *outputFormat, formats ...outputFormat) {
	var allowed []string
	for _, f := range formats {
		allowed = append(allowed, string(f))
	}
	c.Flags().VarP(formatFlag{into, allowed}, "output", "o", "output format: "+listed(allowed))
	completeFlag(c, "output", allowed)
}

func bindDataOutput(c *cobra.Command, into *outputFormat) {
	bindOutput(c, into, textOutput, jsonOutput, yamlOutput)
}

func completeFlag(c *cobra.Command, flag string, values []string) {
	completeWith(c, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeWith(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // The command lacks the flag.
	}
}

func printValue(out io.Writer, format outputFormat, v any, text func(io.Writer) error) error {
	switch format {
	case jsonOutput:
		return printJSON(out, v)
	case yamlOutput:
		body, err := yaml.Marshal(v)
		if err != nil {
			return fmt.Errorf("printing YAML: %w", err)
		}
		_, err = out.Write(body)
		return err
	case textOutput:
	}
	return text(out)
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}
