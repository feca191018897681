package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/hack/bench/local"
)

// fewestBlocks is how many a figure is worth something with.
const fewestBlocks = 10

func main() {
	// A child is killed when the thread that started it ends, so that none outlives this program.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, table, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workloads:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	only, out, from, programs string
	blocks                    int
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("workloads", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.only, "only", "", "measure, or print, only the figures whose names begin so; several with commas")
	f.StringVar(&o.out, "out", "bin/workloads-raw.jsonl", "the file for the raw data")
	f.StringVar(&o.from, "from", "", "measure nothing, and print the figures of this file")
	f.StringVar(&o.programs, "programs", "bin", "the folder of the programs")
	f.IntVar(&o.blocks, "blocks", fewestBlocks, "the number of blocks")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("parsing flags: %w", err)
	}
	if o.blocks < 2 || f.NArg() > 0 {
		return o, errors.New("parsing flags: there are no arguments, and -blocks is 2 or more")
	}
	return o, nil
}

func run(ctx context.Context, stdout, stderr io.Writer, all []comparison, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	chosen, err := choose(all, o.only)
	if err != nil {
		return err
	}
	if o.from != "" {
		return show(stdout, o.from, chosen)
	}
	b := &bench{log: stderr, watch: func() func() (float64, float64) { return local.NewUsage().Since }}
	if err := b.run(ctx, chosen, o); err != nil {
		return err
	}
	return show(stdout, o.out, chosen)
}

// show derives figures from a file and prints them.
func show(stdout io.Writer, file string, chosen []comparison) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the raw data: %w", err)
	}
	r, err := read(bytes.NewReader(text))
	if err != nil {
		return err
	}
	missing, printed := 0, 0
	for _, c := range chosen {
		if !r.chosen(c.name) {
			continue
		}
		figure := c.figure(r)
		if printed++; figure.Missing != "" {
			missing++
		}
		if _, err := fmt.Fprintln(stdout, figure.Line()); err != nil {
			return fmt.Errorf("printing figures: %w", err)
		}
	}
	if missing > 0 || printed == 0 {
		return fmt.Errorf("%d of %d figures were not measured", missing, printed)
	}
	return nil
}

// run measures comparisons and writes the raw data.
func (b *bench) run(ctx context.Context, chosen []comparison, o options) (err error) {
	if runtime.NumCPU() < 2 {
		return errors.New("a server and its load need a CPU each, and there is one only")
	}
	programs, err := filepath.Abs(o.programs)
	if err != nil {
		return fmt.Errorf("finding the programs: %w", err)
	}
	dir, err := os.MkdirTemp("", "workloads")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// A server may give up being root, and must still find its files.
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := b.requireQuiet(ctx); err != nil {
		return err
	}
	seed := rand.Uint64()
	b.random = rand.New(rand.NewPCG(seed, 0))
	m := &machine{programs: programs, dir: dir, random: b.random}
	b.perform, b.blocks, b.left = m.perform, o.blocks, chosen
	raw, err := os.Create(o.out)
	if err != nil {
		return fmt.Errorf("writing the raw data: %w", err)
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	b.raw = json.NewEncoder(raw)
	h := header{Recorded: time.Now().UTC(), Machine: local.Machine(), Seed: seed, Blocks: o.blocks, Figures: names(chosen)}
	if err := b.write(line{Header: &h}); err != nil {
		return err
	}
	if err := b.dropMissing(ctx, m); err != nil {
		return err
	}
	plan := b.plan()
	b.announce(plan, len(chosen), seed)
	if err := local.StayOn(ctx, local.ToolCPU); err != nil {
		return err
	}
	if err := b.measure(ctx, plan); err != nil {
		return fmt.Errorf("%w; %s has what was measured until then, and -from prints it", err, o.out)
	}
	return nil
}

// requireQuiet refuses a machine that others use.
func (b *bench) requireQuiet(ctx context.Context) error {
	const look = 2 * time.Second
	others := b.watch()
	if err := local.Rest(ctx, look); err != nil {
		return err
	}
	if strangers, steal := others(); max(strangers, steal) > quietLimit {
		return fmt.Errorf("the machine is not quiet: others use %.2f CPUs, and steal is %.2f", strangers, steal)
	}
	return nil
}

// dropMissing notes which cells cannot be measured since their program, or a tool, is missing.
func (b *bench) dropMissing(ctx context.Context, m *machine) error {
	why := map[string]error{}
	noted := map[place]bool{}
	for _, c := range b.left {
		for _, cell := range c.cells() {
			p := place{c.group(), cell}
			for _, need := range needs(cell) {
				err, known := why[need]
				if !known {
					if err = m.find(ctx, need); err != nil {
						b.say("%s", err)
					}
					why[need] = err
				}
				if err == nil || noted[p] {
					continue
				}
				noted[p] = true
				if err := b.drop(failure{p, err.Error()}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// needs are the names of the programs that a cell needs, its own first.
func needs(c cell) []string {
	switch c.Load {
	case keepAlive, latency, growth, fairness:
		return []string{c.Program, "wrk"}
	case perRequest:
		return []string{c.Program, "ab"}
	case systemCalls:
		return []string{c.Program, "wrk", "perf"}
	case ownCase:
	}
	return []string{c.Program}
}

// find says why a program cannot be run, if it cannot.
func (m *machine) find(ctx context.Context, program string) (err error) {
	switch program {
	case nginxProgram:
		m.nginx, err = prepareNginx(ctx, m.dir)
		return err
	case "wrk", "ab", "perf":
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing", program)
		}
		return nil
	}
	if _, err := exec.LookPath(m.path(program)); err != nil {
		return fmt.Errorf("%s is missing in %s: was it built?", program, filepath.Base(m.programs))
	}
	return nil
}

// announce says before anything is measured how long it will take.
func (b *bench) announce(plan [][]job, chosen int, seed uint64) {
	var parts []string
	var sum time.Duration
	for _, group := range plan {
		d := reckon(group)
		sum += d
		parts = append(parts, fmt.Sprintf("%s %s", group[0].group, d.Round(time.Second)))
	}
	b.say("%d of %d figures can be measured, in %d blocks, seed %d. Reckoned: %s; about %s in all.",
		len(b.left), chosen, b.blocks, seed, strings.Join(parts, ", "), sum.Round(time.Second))
	if b.blocks < fewestBlocks {
		b.say("Fewer than %d blocks are good for a trial only.", fewestBlocks)
	}
}

func names(list []comparison) []string {
	all := make([]string, len(list))
	for i, c := range list {
		all[i] = c.name
	}
	return all
}
