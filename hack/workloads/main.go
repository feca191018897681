package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

const usage = `usage: workloads runs [PREFIX,...]                   the runs that these figures need
       workloads figures FOLDER [PREFIX,...]         the figures, from the runs or the records in a folder
       workloads record FOLDER RECORDS [PREFIX,...]  keeps the runs in a folder that these figures need, as records in another
       workloads pages RECORDS PAGE...               makes again what pages say of the records
       workloads cells PROGRAM [NAME=]CASE...        the cells of a program, as lines that Loadstone reads
       workloads starts TRIES NAME=PROGRAM...        how long servers take from their start to their first answer, as lines of a record`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workloads:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	switch {
	case len(args) > 0 && len(args) < 3 && args[0] == "runs":
		return printRuns(out, strings.Join(args[1:], ""))
	case len(args) > 1 && len(args) < 4 && args[0] == "figures":
		return printFigures(ctx, out, args[1], strings.Join(args[2:], ""))
	case len(args) > 2 && len(args) < 5 && args[0] == "record":
		return writeRecords(ctx, args[1], args[2], strings.Join(args[3:], ""))
	case len(args) > 2 && args[0] == "pages":
		return writePages(ctx, out, args[1], args[2:])
	case len(args) > 2 && args[0] == "cells":
		return printCells(ctx, out, args[1], args[2:])
	case len(args) > 2 && args[0] == "starts":
		return printStarts(ctx, out, args[1], args[2:])
	}
	return errors.New(usage)
}

func printRuns(out io.Writer, only string) error {
	chosen, err := choose(table, only)
	if err != nil {
		return err
	}
	for _, name := range runs(chosen) {
		if _, err := fmt.Fprintln(out, name); err != nil {
			return fmt.Errorf("printing the runs: %w", err)
		}
	}
	return nil
}

// printFigures prints the results of the runs or records in a folder. Without its run, a figure is "not measured".
func printFigures(ctx context.Context, out io.Writer, folder, only string) error {
	chosen, err := choose(table, only)
	if err != nil {
		return err
	}
	all := load(ctx, folder, runs(chosen))
	missing := 0
	for _, c := range chosen {
		f := c.figure(all[c.run()])
		if f.Missing != "" && !unanswerable(f) {
			missing++
		}
		if _, err := fmt.Fprintln(out, f.Line()); err != nil {
			return fmt.Errorf("printing the figures: %w", err)
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d figures were not measured", missing, len(chosen))
	}
	return nil
}

// choose returns the comparisons whose names begin with one of the comma-separated prefixes.
func choose(all []comparison, only string) ([]comparison, error) {
	var chosen []comparison
	prefixes := strings.Split(only, ",")
	for _, p := range prefixes {
		if !slices.ContainsFunc(all, func(c comparison) bool { return strings.HasPrefix(c.name, p) }) {
			return nil, fmt.Errorf("no figure is named %s...: see docs/explanation/workloads.md", p)
		}
	}
	for _, c := range all {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(c.name, p) }) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// runs lists the runs that comparisons need, in table order.
func runs(list []comparison) []string {
	var names []string
	for _, c := range list {
		if !slices.Contains(names, c.run()) {
			names = append(names, c.run())
		}
	}
	return names
}
