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

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is what the measurements share.
type bench struct {
	sizes   sizes
	cluster *cluster
	log     io.Writer
	// data are the records of all runs so far.
	data []record.RunData
	// left is what the measurements are still reckoned to take, from since on.
	left  time.Duration
	since time.Time
}

// measurement yields figures; reckoned is about how long it takes.
type measurement struct {
	name      string
	onCluster bool
	reckoned  time.Duration
	measure   func(context.Context) ([]figures.Figure, error)
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) (err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := f.String("only", "", "measure only this: "+strings.Join(names(), ", ")+"; several with commas")
	try := f.Bool("try", false, "measure next to nothing, only to see whether everything works")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	b := &bench{sizes: full, log: stderr}
	if *try {
		b.sizes = tiny
		fmt.Fprintln(stderr, "This is a trial of the program: its figures mean nothing.")
	}
	chosen, err := b.choose(*only)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(chosen, func(m measurement) bool { return m.onCluster }) {
		if b.cluster, err = connect(ctx); err != nil {
			return err
		}
		defer b.cluster.close()
	}
	var failed error
	for i, m := range chosen {
		b.left, b.since = 0, time.Now()
		for _, later := range chosen[i:] {
			b.left += later.reckoned
		}
		b.progress("%s", m.name)
		failed = errors.Join(failed, b.one(ctx, stdout, m))
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
	return errors.Join(failed, b.print(stdout, b.records(), nil))
}

// all are the measurements. Those that need no cluster are of the statistics.
func (b *bench) all() []measurement {
	s := b.sizes
	return []measurement{
		{"start", true, time.Duration(s.starts) * reckoned(s.startRun()), b.start},
		{"sweep", true, reckoned(s.sweepRun()), b.sweep},
		{"pairs", true, reckoned(s.pairsRun()) + time.Duration(s.pairs)*b.byHandTakes(), b.pairs},
		{"generators", true, reckoned(s.generatorsRun()), b.generators},
		{"memory", true, s.rest + memorySamples*memoryEvery, b.memory},
		{"merging", false, 15 * time.Second, b.merging},
		{"verdicts", false, 90 * time.Second, b.verdicts},
		{"power", false, 60 * time.Second, b.power},
		{"regression", false, time.Second, b.regression},
		{"duet", false, time.Second, b.duet},
	}
}

func names() []string {
	var list []string
	for _, m := range (&bench{}).all() {
		list = append(list, m.name)
	}
	return list
}

func (b *bench) choose(only string) ([]measurement, error) {
	all := b.all()
	if only == "" {
		return all, nil
	}
	var chosen []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("parsing flags: -only %s: there are %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// one takes a measurement and prints its figures, and says beside them if others used the machine meanwhile.
func (b *bench) one(ctx context.Context, stdout io.Writer, m measurement) error {
	quiet := newMeter(host{"/sys/fs/cgroup", "/proc"})
	list, err := m.measure(ctx)
	strangers, known := quiet.strangers()
	var warning []string
	switch {
	case !known:
		b.say("%s: how much of the machine others used is not known here", m.name)
	case strangers > quietLimit:
		warning = []string{fmt.Sprintf("NOT QUIET: others used %.2f CPUs", strangers)}
	default:
		b.say("%s: the machine was quiet: others used %.3f CPUs", m.name, strangers)
	}
	if err != nil {
		err = fmt.Errorf("measuring %s: %w", m.name, err)
	}
	return errors.Join(err, b.print(stdout, list, warning))
}

func (b *bench) print(w io.Writer, list []figures.Figure, warning []string) error {
	for _, f := range list {
		f.Note = strings.Join(append(warning, f.Note), "; ")
		if _, err := fmt.Fprintln(w, f.Line()); err != nil {
			return fmt.Errorf("printing figures: %w", err)
		}
	}
	return nil
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.log, format+"\n", args...) // Progress is for people: nothing depends on it.
}

// progress tells what goes on, and about how long it will still take.
func (b *bench) progress(format string, args ...any) {
	left := max(b.left-time.Since(b.since), 0).Round(time.Second)
	b.say("%s (about %s left in all)", fmt.Sprintf(format, args...), left)
}
