package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/local"
)

const (
	warmup = 300 * time.Millisecond
	cell   = time.Second
	// plantedCell is longer, since a share of a share is to be found.
	plantedCell = 4 * cell
	slice       = 100 * time.Millisecond
	// starting is what starting and ending the processes of one cell is reckoned to take.
	starting = 100 * time.Millisecond
	// plantedShare is the difference that is planted, plantedPairs the number of pairs that are to find it, and plantedAt their level.
	plantedShare, plantedPairs, plantedAt = 0.05, 10, 100
	// calibrationIterations cost about 20 µs, which is more than a request; so their cost is known to about a hundredth.
	calibrationIterations, calibrationPairs = 10_000, 3
	// slack is how much longer than reckoned the whole may take.
	slack = 3
)

var levels = []int32{10, 100}

func main() {
	// A child is killed when the thread that started it ends, so that none outlives this program.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// recorder is what the measurements share.
type recorder struct {
	// spoiled counts what was measured anew.
	spoiled int
	log     io.Writer
	random  *rand.Rand
	// server is the argument vector of the servers without port and burn; dir holds wrk's script.
	server []string
	dir    string
	out    string
	aa.Recording
	// steps is the number of blocks and planted pairs in all, done how many of them there are.
	done, steps int
	// left is what is still reckoned to take of what was reckoned for all, which began at an instant.
	left, all time.Duration
	began     time.Time
}

// pairTakes, plantedTakes and blockTakes are about how long a pair, a planted pair and a block take.
const (
	pairTakes    = 2*(warmup+cell) + 4*starting
	plantedTakes = 2*(warmup+plantedCell) + 4*starting
	blockTakes   = 2 * 2 * pairTakes // A sequential and a sliced pair at each of two levels.
)

func run(ctx context.Context, log io.Writer, args []string) (err error) {
	f := flag.NewFlagSet("record", flag.ContinueOnError)
	blocks := f.Int("blocks", 40, "the number of blocks")
	out := f.String("out", "aa-blocks.json", "the file to write")
	server := f.String("server", "bin/gohttp", "the server, which must know -port and -burn")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if *blocks < 1 {
		return errors.New("parsing flags: -blocks must be 1 or more")
	}
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return fmt.Errorf("making a folder for wrk: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	seed := rand.Uint64()
	r := &recorder{
		log: log, random: rand.New(rand.NewPCG(seed, 0)), server: []string{*server}, dir: dir, out: *out,
		steps: *blocks + calibrationPairs + plantedPairs,
		Recording: aa.Recording{
			Recorded: time.Now().UTC(), Machine: local.Machine(), Server: []string{*server}, Seed: seed,
			WarmupMillis: warmup.Milliseconds(), CellMillis: cell.Milliseconds(), PlantedMillis: plantedCell.Milliseconds(), SliceMillis: slice.Milliseconds(),
		},
	}
	r.all = time.Duration(*blocks)*blockTakes + (calibrationPairs+plantedPairs)*plantedTakes
	r.left, r.began = r.all, time.Now()
	ctx, cancel := context.WithTimeout(ctx, slack*r.all)
	defer cancel()
	if err := local.StayOn(ctx, local.ToolCPU); err != nil {
		return err
	}
	for range *blocks {
		if err := r.again(r.block)(ctx); err != nil {
			return err
		}
	}
	return r.planted(ctx)
}

// spoiled is the number of blocks and pairs that may be measured anew, since wrk counted errors in them. What it measured there is
// dropped.
const spoiled = 15

// again does something anew that was spoiled.
func (r *recorder) again(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			err := do(ctx)
			if !errors.Is(err, local.ErrSpoiled) || r.spoiled == spoiled {
				return err
			}
			r.spoiled++
			_, _ = fmt.Fprintf(r.log, "%s: once more (%d of at most %d)\n", err, r.spoiled, spoiled) // For people only.
		}
	}
}

// block measures one block and writes the file.
func (r *recorder) block(ctx context.Context) error {
	begin := local.NewUsage()
	b := aa.Block{Levels: make([]aa.Level, len(levels))}
	for i, connections := range levels {
		b.Levels[i].Connections = connections
	}
	for _, side := range r.random.Perm(2) {
		if err := r.alone(ctx, func(i int, c aa.Cell) { b.Levels[i].Sequential[side] = c }); err != nil {
			return err
		}
	}
	var both [2]*local.Server
	for side := range both {
		s, err := r.startServer(ctx, 0)
		if err != nil {
			return err
		}
		defer s.End()
		both[side] = s
	}
	for i, connections := range levels {
		pair, err := r.sliced(ctx, both, connections, cell)
		if err != nil {
			return err
		}
		b.Levels[i].Sliced = pair
	}
	both[0].End()
	both[1].End()
	b.StrangersCPUs, b.StealCPUs = begin.Since()
	r.Blocks = append(r.Blocks, b)
	r.progress(blockTakes, "block %d: others used %.3f CPUs, %.3f stolen", len(r.Blocks), b.StrangersCPUs, b.StealCPUs)
	return r.write()
}

// alone measures one fresh server through all levels.
func (r *recorder) alone(ctx context.Context, keep func(level int, c aa.Cell)) error {
	s, err := r.startServer(ctx, 0)
	if err != nil {
		return err
	}
	defer s.End()
	for i, connections := range levels {
		c, err := r.sequential(ctx, s, connections)
		if err != nil {
			return err
		}
		keep(i, c)
	}
	return nil
}

// planted measures the pairs with a planted difference, after it has found out what an iteration costs.
func (r *recorder) planted(ctx context.Context) error {
	p := &aa.Planted{CalibrationIterations: calibrationIterations, Iterations: 1}
	pairs := func(n int, iterations uint64, name string) ([]aa.Pair, error) {
		var list []aa.Pair
		for range n {
			var pair aa.Pair
			err := r.again(func(ctx context.Context) (err error) {
				pair, err = r.plantedPair(ctx, iterations)
				return err
			})(ctx)
			if err != nil {
				return nil, err
			}
			list = append(list, pair)
			cpu, _ := pair.Logs()
			r.progress(plantedTakes, "%s: %d iterations, log ratio %.4f", name, iterations, cpu)
		}
		return list, nil
	}
	var err error
	if p.Calibration, err = pairs(calibrationPairs, calibrationIterations, "calibration"); err != nil {
		return err
	}
	one := p.Size()
	if !(one > 0) {
		return errors.New("calibrating the planted difference: a loop of many iterations costs nothing; is the machine quiet?")
	}
	p.Iterations = uint64(plantedShare/one + 0.5)
	if p.Pairs, err = pairs(plantedPairs, p.Iterations, "planted"); err != nil {
		return err
	}
	r.Planted = p
	return r.write()
}

func (r *recorder) plantedPair(ctx context.Context, iterations uint64) (pair aa.Pair, err error) {
	var both [2]*local.Server
	for side, burn := range []uint64{0, iterations} {
		if both[side], err = r.startServer(ctx, burn); err != nil {
			return pair, err
		}
		defer both[side].End()
	}
	return r.sliced(ctx, both, plantedAt, plantedCell)
}

// write replaces the file as a whole, lest an interruption leaves half of one.
func (r *recorder) write() error {
	text, err := json.MarshalIndent(r.Recording, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the recording: %w", err)
	}
	if err := os.WriteFile(r.out+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	if err := os.Rename(r.out+".new", r.out); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	return nil
}

// progress tells what was measured, and about how long the rest takes at the pace so far.
func (r *recorder) progress(took time.Duration, format string, args ...any) {
	r.done++
	r.left -= took
	left := time.Duration(float64(r.left) / float64(r.all-r.left) * float64(time.Since(r.began)))
	_, _ = fmt.Fprintf(r.log, "%d/%d, about %s left: "+format+"\n", append([]any{r.done, r.steps, left.Round(time.Second)}, args...)...) // For people only.
}
