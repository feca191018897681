package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints every old word that users read, with what to say instead. It is an error if there is one.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("words", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository's root")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	findings, err := scanAll(os.DirFS(*root), places)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if _, err := fmt.Fprintln(out, f); err != nil {
			return fmt.Errorf("printing findings: %w", err)
		}
	}
	if len(findings) > 0 {
		return fmt.Errorf("users read %d old words: replace them as above", len(findings))
	}
	return nil
}
