package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"loadstone.dev/loadstone/internal/lint"
	"loadstone.dev/loadstone/internal/printout"
)

// The exit statuses of loadstone analyse. Whatever else fails ends with status 1, as everywhere.
const (
	statusVoid     = 1
	statusBadInput = 2
)

// statusError is an error that ends the program with a status of its own.
type statusError struct {
	status int
	err    error
}

// Error implements error.
func (e *statusError) Error() string { return e.err.Error() }

// Unwrap lets errors.Is and errors.As look inside.
func (e *statusError) Unwrap() error { return e.err }

// status is the exit status that an error calls for.
func status(err error) int {
	if e := (*statusError)(nil); errors.As(err, &e) {
		return e.status
	}
	return 1
}

// analyseCommand judges raw outputs of load generators from files, or from in where a name is "-".
func analyseCommand(out io.Writer, in io.Reader, args []string) error {
	f := flag.NewFlagSet("loadstone analyse", flag.ContinueOnError)
	asJSON := f.Bool("json", false, "print JSON for programs")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return &statusError{statusBadInput, fmt.Errorf("parsing flags: %w", err)}
	}
	if f.NArg() == 0 {
		return &statusError{statusBadInput, errors.New(usage)}
	}
	var samples []printout.Sample
	for _, name := range f.Args() {
		found, err := readSamples(in, name)
		if err != nil {
			return &statusError{statusBadInput, err}
		}
		samples = append(samples, found...)
	}
	r := lint.Analyse(samples)
	if err := printAnalysis(out, r, *asJSON); err != nil {
		return err
	}
	if void := r.Void(); void > 0 {
		return &statusError{statusVoid, fmt.Errorf("%d of %d samples are void", void, len(samples))}
	}
	return nil
}

func readSamples(in io.Reader, name string) ([]printout.Sample, error) {
	if name == "-" {
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return printout.Parse("stdin", text)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a raw output: %w", err)
	}
	return printout.Parse(name, text)
}

func printAnalysis(out io.Writer, r lint.Report, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(out, lint.Text(r))
		return err
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}
