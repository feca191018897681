// Program bench measures Loadstone itself: as it is installed on a cluster (package cluster), and its statistics without one (packages
// merging and verdicts). The table below says what there is.
//
// A line a figure goes to standard output, tab-separated: name, value, unit, aim, "met" or "short", and a note. Progress, and
// where the time goes, go to standard error. The program compares no versions and keeps no history.
//
// "bench record FOLDER FILE" makes the recording of equal servers that verdicts draws from, out of the runs that "loadstone run" has left in a
// folder (make bench-record; package aa).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/cluster"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/merging"
	"loadstone.dev/loadstone/hack/bench/verdicts"
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
	if len(args) == 3 && args[0] == "record" {
		return aa.Record(ctx, args[1], args[2])
	}
	log, sizes := figures.NewLog(stderr), cluster.Full
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
func one(ctx context.Context, stdout io.Writer, log *figures.Log, m measurement) error {
	meter := newMeter(machine)
	list, err := m.measure(ctx)
	strangers, known := meter.strangers()
	var warning []string
	switch {
	case !known:
		log.Say("%s: how much of the machine others used is not known here", m.name)
	case strangers > quietLimit:
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

// measurement yields figures; reckoned is about how long it takes.
type measurement struct {
	name      string
	onCluster bool
	reckoned  time.Duration
	measure   func(context.Context) ([]figures.Figure, error)
}

// all are the measurements. Those that need no cluster are of the statistics.
func all(c *cluster.Bench, log *figures.Log) []measurement {
	takes, merged, drawn := c.Times(), merging.Bench{Log: log}, verdicts.Bench{Log: log}
	return []measurement{
		{"start", true, takes.Start, c.Start},
		{"sweep", true, takes.Sweep, c.Sweep},
		{"pairs", true, takes.Pairs, c.Pairs},
		{"generators", true, takes.Generators, c.Generators},
		{"memory", true, takes.Memory, c.Memory},
		{"merging", false, 15 * time.Second, merged.Measure},
		{"verdicts", false, 90 * time.Second, drawn.Verdicts},
		{"power", false, 60 * time.Second, drawn.Power},
		{"regression", false, time.Second, drawn.Regression},
		{"duet", false, time.Second, drawn.Duet},
	}
}

func names(list []measurement) string {
	all := make([]string, len(list))
	for i, m := range list {
		all[i] = m.name
	}
	return strings.Join(all, ", ")
}

// choose takes those that are named, in the order in which they are, with commas between them; all if none is.
func choose(all []measurement, only string) ([]measurement, error) {
	if only == "" {
		return all, nil
	}
	var chosen []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("parsing flags: -only %s: there are %s", name, names(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// onCluster says whether any of them needs a cluster.
func onCluster(list []measurement) bool {
	return slices.ContainsFunc(list, func(m measurement) bool { return m.onCluster })
}

// reckoned is about how long all of them take.
func reckoned(list []measurement) time.Duration {
	var sum time.Duration
	for _, m := range list {
		sum += m.reckoned
	}
	return sum
}
