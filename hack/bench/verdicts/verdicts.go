package verdicts

import (
	"context"
	"fmt"
	"math/rand/v2"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/figures"
)

const (
	// contenders and drawnLevels are the size of a drawn run of sequential blocks, runBlocks its number of blocks where that is not varied, and
	// voidBlocks where cells are void: it holds the spare blocks, too.
	contenders, drawnLevels, runBlocks, voidBlocks = 3, 4, 10, 14
	// stoppingBlocks are those of a run that may stop.
	stoppingBlocks = 40
	// falseRuns are drawn for each share of false sentences.
	falseRuns = 10_000
	// voidShare is that of the cells that are void in a world of void cells.
	voidShare = 0.1
)

// trial is a world with a name, and what is to be known of it.
type trial struct {
	name string
	world
	// note is what is special about it.
	note string
}

// noises are those of a recording, by the way in which a pair was measured.
type noises struct {
	sequential, sliced []logs
	blocks             int
}

func noisesOf(r aa.Recording) noises {
	return noises{sequential: logsOf(r, sequential), sliced: logsOf(r, sliced), blocks: len(r.Blocks)}
}

// ordinary is a run of sequential blocks whose contenders share a baseline.
func (n noises) ordinary() world {
	return world{noise: recordedServer(n.sequential), contenders: contenders, levels: drawnLevels, blocks: runBlocks}
}

// turns is a run of two servers that take turns.
func (n noises) turns() world {
	return world{noise: recordedPair(n.sliced), ownBaseline: true, duet: true, contenders: 1, levels: drawnLevels, blocks: runBlocks}
}

// everyContender has the same effects by level.
func everyContender(n int, byLevel ...float64) [][]float64 {
	out := make([][]float64, n)
	for k := range out {
		out[k] = byLevel
	}
	return out
}

// voidAtRandom hits each cell alike; voidByNeighbours hits those that are slower than usual, since who takes CPU time away makes cells slow
// as well as void.
func voidAtRandom(random *rand.Rand, _ deviation) bool { return random.Float64() < voidShare }

func voidByNeighbours(random *rand.Rand, d deviation) bool {
	return d.cpu > 0 && random.Float64() < 2*voidShare
}

// trials are the worlds in which no false sentence may be said.
func (n noises) trials() []trial {
	large, middling := 2.5, 1.2
	all, turns := spread(n.sequential), spread(n.sliced)
	with := func(w world, change func(*world)) world {
		change(&w)
		return w
	}
	byCPU := func(w *world) { w.bound = true }
	rate := func(w *world) { w.rate = true }
	return []trial{
		{"equal-throughput", n.ordinary(), ""},
		{"equal-cpu-time", with(n.ordinary(), byCPU), "generators as limit"},
		{"equal-own-baselines", with(n.ordinary(), func(w *world) { w.noise, w.ownBaseline = recordedPair(n.sequential), true }), "each contender with recorded pairs of its own"},
		{"equal-duet", n.turns(), ""},
		{"one-level-differs", with(n.ordinary(), func(w *world) { w.effects = everyContender(contenders, large*all, 0, 0, 0) }), "each contender at the first level, by 2.5 sd of a pair"},
		{"one-contender-differs", with(n.ordinary(), func(w *world) { w.effects = everyContender(1, large*all, large*all, large*all, large*all) }), "one at all levels, by 2.5 sd of a pair"},
		{"one-level-differs-duet", with(n.turns(), func(w *world) { w.effects = everyContender(1, middling*turns, 0, 0, 0) }), "at the first level, by 1.2 sd of a pair"},
		{"crossing", with(n.ordinary(), func(w *world) { w.effects = everyContender(contenders, large*all, large*all, -large*all, -large*all) }), "2.5 sd of a pair up at two levels and down at two"},
		{"crossing-duet", with(n.turns(), func(w *world) {
			w.effects = everyContender(1, middling*turns, middling*turns, -middling*turns, -middling*turns)
		}), "1.2 sd of a pair up at two levels and down at two"},
		{"rate", with(n.ordinary(), rate), "CPU time and two percentiles at imposed rates"},
		{"rate-marginal", with(n.ordinary(), func(w *world) { w.rate, w.missed = true, []float64{0, 0, 0.5, 1} }), "each server misses the third rate in half of its blocks, and the fourth in all"},
		{"rate-marginal-14-blocks", with(n.ordinary(), func(w *world) { w.rate, w.blocks, w.missed = true, voidBlocks, []float64{0, 0.5, 0.5, 1} }), "each server misses the second and third rate in half of its blocks, and the fourth in all"},
		{"void-at-random", with(n.ordinary(), func(w *world) { w.void, w.blocks = voidAtRandom, voidBlocks }), "10 % of all cells void"},
		{"void-by-neighbours", with(n.ordinary(), func(w *world) { w.void, w.blocks = voidByNeighbours, voidBlocks }), "10 % of all cells void, slower ones only"},
		{"stopping", with(n.ordinary(), stops(0.2, 0.3, 0.4, 0.6)), "looks after 10, 20 and 30 blocks at widths of 0.2 to 0.6"},
		{"stopping-duet", with(n.turns(), stops(0.03, 0.04, 0.05, 0.1)), "looks after 10, 20 and 30 blocks at widths of 0.03 to 0.1"},
	}
}

func stops(widths ...float64) func(*world) {
	return func(w *world) { w.blocks, w.widths = stoppingBlocks, widths }
}

// tally draws runs of a world and judges what they say.
func (w world) tally(ctx context.Context, runs int) (tally, error) {
	sum := tally{world: w}
	var parts []*tally
	err := parallel(ctx, runs, func() func(*rand.Rand) {
		t := &tally{world: w}
		parts = append(parts, t)
		return func(random *rand.Rand) { t.see(w.decide(random, w.draw(random), false)) }
	})
	for _, t := range parts {
		sum.add(*t)
	}
	return sum, err
}

// Verdicts draws runs whose truth is known from recorded blocks: how many say anything false about a winner, and how many of the intervals that
// they print hold the truth.
func (b Bench) Verdicts(ctx context.Context) ([]figures.Figure, error) {
	n, err := b.noises()
	if err != nil {
		return nil, err
	}
	var said, hold []figures.Figure
	for _, t := range n.trials() {
		b.Log.Step("verdicts: %s", t.name)
		counted, err := t.tally(ctx, falseRuns)
		if err != nil {
			return nil, err
		}
		said = append(said, t.falseSentences(counted, n.blocks))
		hold = append(hold, t.coverage(counted))
	}
	return append(said, hold...), nil
}

// falseSentences is the share of runs that say anything false about a winner.
func (t trial) falseSentences(c tally, recorded int) figures.Figure {
	note := fmt.Sprintf(
		"one-sided 95 %% upper bound; %d of %d runs (a winner where there is none %d, equality where there is none %d, \"depends on the load\" where it does not %d; any winner in %d); %s, drawn from %d recorded blocks",
		c.falseRuns, c.runs, c.winners, c.equals, c.depends, c.decidedRuns, t.describe(), recorded,
	)
	return figures.Of("false-sentences-"+t.name, 100*upperBound(c.falseRuns, c.runs), "%", figures.AtMost(1.2), note)
}

// coverage is the share of intervals that hold the truth: those of the mean over the levels are held against the aim.
func (t trial) coverage(c tally) figures.Figure {
	note := fmt.Sprintf("%d of %d intervals of the deciding metric's mean over the levels; at single levels %.2f %% of %d", c.means.hold, c.means.of, c.levels.share(), c.levels.of)
	return figures.Of("coverage-"+t.name, c.means.share(), "%", figures.Within(98.5, 99.5), note)
}

// describe returns what is drawn.
func (t trial) describe() string {
	text := fmt.Sprintf("%d blocks, %d contenders with one baseline, %d levels", t.blocks, t.contenders, t.levels)
	if t.duet {
		text = fmt.Sprintf("%d blocks of two servers that take turns, %d levels", t.blocks, t.levels)
	}
	if t.note != "" {
		text += ", " + t.note
	}
	if !t.duet {
		text += fmt.Sprintf("; p50 mirrors the throughput, and p99 is normal with an sd of %.1f", tailDeviation)
	}
	return text
}
