// Package verdicts tries the statistics on runs whose truth is known, without a cluster: how often a run says anything false about a winner
// (verdicts), how often it finds what it calls detectable (power), how often an unchanged server is called changed (regression), and what
// taking turns is worth (duet).
//
// Verdicts, power and duet draw from testdata/aa-blocks.json, pairs of equal servers that were measured on one machine (package aa); blocks
// in which Loadstone would void a cell are left out. A run is drawn from a world (world.go), in which it is known which contender truly differs
// from the shared baseline, at which level and by how much; the real rules decide it, and truth.go holds every sentence about a winner, and every
// interval, against that. Latencies are not recorded: that of the median mirrors the throughput, and that of p99 is normal. Regression draws
// from normal noise alone.
package verdicts

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/stats/inference"
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

// recordings hold aa-blocks.json, which "make bench-record" makes.
//
//go:embed testdata/*.json
var recordings embed.FS

const blocksFile = "testdata/aa-blocks.json"

func readRecording(name string) (aa.Recording, error) {
	text, err := recordings.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return aa.Recording{}, fmt.Errorf("there is no hack/bench/verdicts/%s: make it with \"make bench-record\" on a quiet machine", name)
	}
	if err != nil {
		return aa.Recording{}, fmt.Errorf("reading the recorded blocks: %w", err)
	}
	return aa.Parse(text)
}

// Bench draws from the recorded blocks, and tells Log what it does.
type Bench struct{ Log *figures.Log }

// allowed reads the recorded blocks in which Loadstone would void no cell, and says how many it leaves out.
func (b Bench) allowed() (aa.Recording, error) {
	r, err := readRecording(blocksFile)
	if err != nil {
		return r, err
	}
	kept, out := r.Allowed()
	b.Log.Say("Blocks recorded %s on %s: %d, and %d more that Loadstone would void.", r.Recorded.Format("2006-01-02"), r.Machine, len(kept.Blocks), out)
	if len(kept.Blocks) == 0 {
		return r, errors.New("reading the recorded blocks: Loadstone would void all of them")
	}
	return kept, nil
}

func (b Bench) noises() (noises, error) {
	r, err := b.allowed()
	return noisesOf(r), err
}

// tally counts what runs of a world say against what is true of it.
type tally struct {
	world world
	runs  int
	// falseRuns are those with any false sentence about a winner. Of them are those in which a result, a level or a load names one
	// (winners), calls two equal that differ by more than the margin (equals), or lets a load decide where no two levels differ in
	// direction (depends).
	falseRuns, winners, equals, depends int
	// means and levels are the intervals of the deciding metric, and how many of them hold the truth.
	means, levels covered
	// decidedRuns are those with any winner at all.
	decidedRuns int
}

type covered struct{ hold, of int }

func (c covered) share() float64 { return share(c.hold, c.of) }

func (c *covered) add(o covered) { c.hold, c.of = c.hold+o.hold, c.of+o.of }

// share is in per cent.
func share(k, n int) float64 { return 100 * float64(k) / float64(n) }

// upperBound is the one-sided upper bound of a share of which k of n were seen, at 95 %, by Clopper and Pearson.
func upperBound(k, n int) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

// add adds up two tallies of the same world.
func (t *tally) add(o tally) {
	t.runs, t.falseRuns, t.decidedRuns = t.runs+o.runs, t.falseRuns+o.falseRuns, t.decidedRuns+o.decidedRuns
	t.winners, t.equals, t.depends = t.winners+o.winners, t.equals+o.equals, t.depends+o.depends
	t.means.add(o.means)
	t.levels.add(o.levels)
}

// said is what one run says wrongly.
type said struct{ winner, equal, depends, decided bool }

// see judges one run.
func (t *tally) see(run []verdict.Comparison) {
	var wrong said
	for k, c := range run {
		var mean float64
		up, down := false, false
		for l := range c.Levels {
			effect := t.world.effect(k, l)
			mean += effect / float64(len(c.Levels))
			up, down = up || effect > 0, down || effect < 0
			wrong.verdict(c.Levels[l].Verdict, effect)
			wrong.results(c.Levels[l].Results, effect)
			t.levels.see(c.Levels[l].Deciding(), effect)
		}
		if math.Abs(mean) < 1e-12 {
			mean = 0
		}
		wrong.verdict(c.Verdict, mean)
		wrong.results(c.Overall, mean)
		wrong.depends = wrong.depends || falselyDepends(c, mean, up && down)
		wrong.equal = wrong.equal || c.Verdict == verdict.NoDifference && up && down
		t.means.see(c.Deciding(), mean)
	}
	t.runs++
	t.falseRuns += asInt(wrong.winner || wrong.equal || wrong.depends)
	t.winners, t.equals, t.depends = t.winners+asInt(wrong.winner), t.equals+asInt(wrong.equal), t.depends+asInt(wrong.depends)
	t.decidedRuns += asInt(wrong.decided)
}

// falselyDepends reports whether a verdict that depends on the load is false: where levels have different winners, there must be levels of
// either sign, and where all winners are one, the mean must be within the margin.
func falselyDepends(c verdict.Comparison, mean float64, crossing bool) bool {
	if c.Verdict != verdict.DependsOnLoad {
		return false
	}
	better, worse := false, false
	for _, l := range c.Levels {
		better, worse = better || l.Verdict == verdict.Better, worse || l.Verdict == verdict.Worse
	}
	if better && worse {
		return !crossing
	}
	return math.Abs(mean) > math.Log1p(inference.EquivalenceMargin)
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// verdict holds a verdict against the true effect: more cost is worse in every metric.
func (s *said) verdict(v verdict.Verdict, effect float64) {
	s.winner = s.winner || v == verdict.Better && effect >= 0 || v == verdict.Worse && effect <= 0
	s.equal = s.equal || v == verdict.NoDifference && math.Abs(effect) > math.Log1p(inference.EquivalenceMargin)
	s.decided = s.decided || v == verdict.Better || v == verdict.Worse || v == verdict.DependsOnLoad
}

func (s *said) results(list []verdict.Result, effect float64) {
	for _, r := range list {
		s.verdict(r.Verdict, effect)
	}
}

// see looks whether a result's interval holds the truth. One that has no interval says nothing.
func (c *covered) see(r verdict.Result, effect float64) {
	if r.Low == nil || r.High == nil {
		return
	}
	if r.Metric.MoreIsBetter() {
		effect = -effect
	}
	c.of++
	c.hold += asInt(math.Log(*r.Low) <= effect && effect <= math.Log(*r.High))
}
