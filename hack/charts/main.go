package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("charts", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository's root")
	onlyCheck := flags.Bool("check", false, "write nothing, check everything")
	update := flags.Bool("update", false, "write the golden rendering")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	r := repository{root: *root}
	switch {
	case *onlyCheck:
		return check(ctx, stdout, r)
	case *update:
		return r.updateGolden(ctx)
	default:
		return r.generate(ctx)
	}
}

// errDiffer says that a check has found something; what it is has been printed.
var errDiffer = errors.New("not as it should be")

// check goes through all checks, so that one run shows everything.
func check(ctx context.Context, stdout io.Writer, r repository) error {
	failed := false
	for _, c := range []struct {
		name string
		run  func(context.Context) ([]string, error)
	}{
		{"the chart's generated files are current", r.checkGenerated},
		{"the chart's operator and config/default are equal", r.checkEqual},
		{"every pod is restricted, and no role goes too far", r.checkRestricted},
		{"runs.namespaces leaves no right in other namespaces", r.checkConfined},
		{"the rendered chart is the golden one", r.checkGolden},
		{"the chart rendered twice, for the newest and the oldest Kubernetes, is the same", r.checkRepeatable},
		{"an upgrade leaves MinIO alone", r.checkUpgrade},
		{"wrong values are refused with a sentence", r.checkRefusals},
		{"helm lint", r.checkLint},
	} {
		findings, err := c.run(ctx)
		if err != nil {
			return fmt.Errorf("checking that %s: %w", c.name, err)
		}
		word := "ok  "
		if len(findings) > 0 {
			word, failed = "FAIL", true
		}
		if _, err := fmt.Fprintln(stdout, word, c.name); err != nil {
			return fmt.Errorf("printing findings: %w", err)
		}
		for _, f := range findings {
			if _, err := fmt.Fprintln(stdout, "    ", f); err != nil {
				return fmt.Errorf("printing findings: %w", err)
			}
		}
	}
	if failed {
		return errDiffer
	}
	return nil
}
