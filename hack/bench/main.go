package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"loadstone.dev/loadstone/hack/bench/cluster"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/progress"
	"loadstone.dev/loadstone/hack/bench/quiet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	log, sizes := progress.New(stderr), cluster.Full
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := f.String("only", "", "measure only this: "+names(all(cluster.New(log, sizes), log))+"; several with commas")
	try := f.Bool("try", false, "measure next to nothing, only to see whether everything works")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if *try {
		sizes = cluster.Tiny
		log.Say("This is a trial of the program: its figures mean nothing.")
	}
	c := cluster.New(log, sizes)
	chosen, err := choose(all(c, log), *only)
	if err != nil {
		return err
	}
	if onCluster(chosen) {
		if err := c.Connect(ctx); err != nil {
			return err
		}
		defer c.Close()
	}
	var failed error
	for i, m := range chosen {
		log.Expect(reckoned(chosen[i:]))
		log.Step("%s", m.name)
		failed = errors.Join(failed, one(ctx, stdout, log, m))
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
	return errors.Join(failed, printLines(stdout, c.Records(), nil))
}

// one takes a measurement and prints its figures, and says beside them if others used the machine meanwhile.
func one(ctx context.Context, stdout io.Writer, log *progress.Log, m measurement) error {
	meter := quiet.NewMeter()
	list, err := m.measure(ctx)
	strangers, known := meter.Strangers()
	var warning []string
	switch {
	case !known:
		log.Say("%s: how much of the machine others used is not known here", m.name)
	case strangers > quiet.Limit:
		warning = []string{fmt.Sprintf("NOT QUIET: others used %.2f CPUs", strangers)}
	default:
		log.Say("%s: the machine was quiet: others used %.3f CPUs", m.name, strangers)
	}
	if err != nil {
		err = fmt.Errorf("measuring %s: %w", m.name, err)
	}
	return errors.Join(err, printLines(stdout, list, warning))
}

func printLines(w io.Writer, list []figures.Figure, warning []string) error {
	for _, f := range list {
		f.Note = strings.Join(append(warning, f.Note), "; ")
		if _, err := fmt.Fprintln(w, f.Line()); err != nil {
			return fmt.Errorf("printing figures: %w", err)
		}
	}
	return nil
}
