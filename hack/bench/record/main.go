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
	"slices"
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
	// plantedShare is the difference that is planted, plantedPairs the least number of pairs that are to find it, and plantedAt their level.
	plantedShare, plantedPairs, plantedAt = 0.05, 10, 100
	// loopIterations take about 40 ms; their cost is measured so often before and after each pair. There are more pairs, up to a number, until the
	// planted cost is known to a share of itself.
	loopIterations, loopTimes, mostPlantedPairs, knownTo = 20_000_000, 20, 40, 0.01
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
	plantedTakes = 2*(warmup+plantedCell) + 4*starting + loopTakes
	loopTakes    = loopTimes * 2 * loopIterations * time.Nanosecond
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
		steps: *blocks + plantedPairs,
		Recording: aa.Recording{
			Recorded: time.Now().UTC(), Machine: local.Machine(), Server: []string{*server}, Seed: seed,
			WarmupMillis: warmup.Milliseconds(), CellMillis: cell.Milliseconds(), PlantedMillis: plantedCell.Milliseconds(), SliceMillis: slice.Milliseconds(),
		},
	}
	r.all = time.Duration(*blocks)*blockTakes + plantedPairs*plantedTakes
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

// spoiled is the number of blocks and pairs that may be measured anew, since wrk counted errors in them or others disturbed them. What was measured there
// is dropped.
const spoiled = 30

// errDisturbed says that Loadstone would void what was measured.
var errDisturbed = errors.New("others used or took too much of the CPUs")

// again does something anew that was spoiled.
func (r *recorder) again(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			err := do(ctx)
			if !errors.Is(err, local.ErrSpoiled) && !errors.Is(err, errDisturbed) || r.spoiled == spoiled {
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
	if !b.Allowed() {
		return fmt.Errorf("measuring a block: %w: %.3f used, steal %.3f", errDisturbed, b.StrangersCPUs, b.StealCPUs)
	}
	r.Blocks = append(r.Blocks, b)
	r.progress(blockTakes, "block %d: others used %.3f CPUs, steal was %.3f", len(r.Blocks), b.StrangersCPUs, b.StealCPUs)
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

// planted measures the pairs with a planted difference, and before and after each what an iteration costs.
func (r *recorder) planted(ctx context.Context) error {
	loop, err := r.loop(ctx, loopTimes)
	if err != nil {
		return err
	}
	p := &aa.Planted{Iterations: r.iterations(loop), LoopNanos: [][]float64{loop}}
	for len(p.Pairs) < plantedPairs || p.Uncertainty() > knownTo && len(p.Pairs) < mostPlantedPairs {
		var pair aa.Pair
		err := r.again(func(ctx context.Context) (err error) {
			pair, err = r.plantedPair(ctx, p.Iterations)
			return err
		})(ctx)
		if err != nil {
			return err
		}
		if loop, err = r.loop(ctx, loopTimes); err != nil {
			return err
		}
		p.Pairs, p.LoopNanos = append(p.Pairs, pair), append(p.LoopNanos, loop)
		cpu, _ := pair.Logs()
		r.progress(plantedTakes, "planted: %d iterations, log ratio %.4f, its cost is known to %.1f %% of itself", p.Iterations, cpu, 100*p.Uncertainty())
	}
	r.Planted = p
	return r.write()
}

// iterations are as many as cost the planted share of a request, by the recorded blocks.
func (r *recorder) iterations(loop []float64) uint64 {
	var costs []float64
	for _, b := range r.Blocks {
		for _, l := range b.Levels {
			if l.Connections == plantedAt {
				costs = append(costs, l.Sliced[0].CPUPerRequest(), l.Sliced[1].CPUPerRequest())
			}
		}
	}
	slices.Sort(costs)
	slices.Sort(loop)
	return uint64(plantedShare*costs[len(costs)/2]/loop[len(loop)/2] + 0.5)
}

func (r *recorder) plantedPair(ctx context.Context, iterations uint64) (pair aa.Pair, err error) {
	var both [2]*local.Server
	for side, burn := range []uint64{0, iterations} {
		if both[side], err = r.startServer(ctx, burn); err != nil {
			return pair, err
		}
		defer both[side].End()
	}
	pair, err = r.sliced(ctx, both, plantedAt, plantedCell)
	if err == nil && !pair.Allowed() {
		err = fmt.Errorf("measuring a planted pair: %w: %.3f used, steal %.3f", errDisturbed, pair[0].StrangersShare, pair[0].StealShare)
	}
	return pair, err
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
	left := time.Duration(float64(max(r.left, 0)) / float64(r.all-r.left) * float64(time.Since(r.began)))
	_, _ = fmt.Fprintf(r.log, "%d/%d, about %s left: "+format+"\n", append([]any{r.done, max(r.done, r.steps), left.Round(time.Second)}, args...)...) // For people only.
}
