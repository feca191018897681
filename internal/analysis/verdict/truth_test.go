package verdict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// These tests try the statistics on runs with a known truth: how often a run says anything false about a winner, how
// often it finds what it calls detectable (power_test.go), and the worth of taking turns. Runs are drawn from
// recorded blocks of equal servers (recording_test.go) in worlds (world_test.go) that define which contender differs
// from the shared baseline, at which level and by how much. The real rules decide them; a tally compares every
// statement and interval with the truth.
//
// Latencies are not recorded: the median mirrors the throughput, and p99 is normal.
//
// "make bench-stats" draws the number of runs that docs/measurements-statistics.md states, and prints the figures.
// Other tests draw fewer, and fail if even these show a missed aim.

func runsToDraw(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LOADSTONE_TEST_DRAWN_RUNS")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("LOADSTONE_TEST_DRAWN_RUNS is %q, want a number of runs", text)
	}
	return n
}

const (
	// contenders and drawnLevels are the size of a drawn run, runBlocks its default blocks, and voidBlocks those with
	// void cells, including spares.
	contenders, drawnLevels, runBlocks, voidBlocks = 3, 4, 10, 14
	// stoppingBlocks are those of a run that may stop early.
	stoppingBlocks = 40
	// mostFalse is the allowed share of runs with a false statement on a winner.
	mostFalse = 0.012
	// voidShare is the share of void cells.
	voidShare = 0.1
)

type trial struct {
	name string
	world
	note string
}

// noises are a recording's, by the way of measuring a pair.
type noises struct{ sequential, sliced []logs }

func recordedNoises(t *testing.T) noises {
	t.Helper()
	r := recorded(t)
	return noises{
		sequential: logsOf(r, func(l level) pair { return l.Sequential }),
		sliced:     logsOf(r, func(l level) pair { return l.Sliced }),
	}
}

// ordinary is a run of sequential blocks whose contenders share a baseline.
func (n noises) ordinary() world {
	return world{noise: recordedServer(n.sequential), contenders: contenders, levels: drawnLevels, blocks: runBlocks}
}

func (n noises) turns() world {
	return world{noise: recordedPair(n.sliced), ownBaseline: true, duet: true, contenders: 1, levels: drawnLevels, blocks: runBlocks}
}

func everyContender(n int, byLevel ...float64) [][]float64 {
	out := make([][]float64, n)
	for k := range out {
		out[k] = byLevel
	}
	return out
}

// voidAtRandom hits all cells alike. voidByNeighbours hits slow cells, since lost CPU time makes cells slow as well
// as void.
func voidAtRandom(random *rand.Rand, _ deviation) bool { return random.Float64() < voidShare }

func voidByNeighbours(random *rand.Rand, d deviation) bool {
	return d.cpu > 0 && random.Float64() < 2*voidShare
}

// trials are the worlds without any allowed false statement.
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

func TestFalseSentencesAreSeldom(t *testing.T) {
	var mu sync.Mutex
	worst, worlds := figures.Figure{}, 0
	t.Cleanup(func() { // After the worlds, which are tried at the same time.
		if worlds > 0 {
			t.Log(figures.Of("false-sentences-worst", worst.Value, worst.Unit, worst.Aim, fmt.Sprintf("the largest of %d worlds: %s", worlds, worst.Name)).Line())
		}
	})
	for _, w := range recordedNoises(t).trials() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			c := tally{world: w.world}
			draw(runsToDraw(t), func(random *rand.Rand) { c.see(w.decide(random, w.draw(random), false)) })
			f := w.falseSentences(c)
			t.Log(f.Line())
			mu.Lock()
			if worlds++; worlds == 1 || f.Value > worst.Value {
				worst = f
			}
			mu.Unlock()
			t.Log(w.coverage(c).Line())
			if lowerBound(c.falseRuns, c.runs) > mostFalse {
				t.Errorf("%d of %d runs say something false about a winner, want %.1f %% at most", c.falseRuns, c.runs, 100*mostFalse)
			}
			if upperBound(c.means.hold, c.means.of) < 0.985 {
				t.Errorf("%d of %d intervals hold the truth, want 98.5 %% or more", c.means.hold, c.means.of)
			}
		})
	}
}

func (t trial) falseSentences(c tally) figures.Figure {
	note := fmt.Sprintf(
		"one-sided 95 %% upper bound; %d of %d runs (a winner where there is none %d, equality where there is none %d, \"depends on the load\" where it does not %d; any winner in %d); %s",
		c.falseRuns, c.runs, c.winners, c.equals, c.depends, c.decidedRuns, t.describe(),
	)
	return figures.Of("false-sentences-"+t.name, 100*upperBound(c.falseRuns, c.runs), "%", figures.AtMost(100*mostFalse), note)
}

// coverage is the share of intervals that hold the truth; the aim is for means over levels.
func (t trial) coverage(c tally) figures.Figure {
	note := fmt.Sprintf("%d of %d intervals of the deciding metric's mean over the levels; at single levels %.2f %% of %d", c.means.hold, c.means.of, c.levels.share(), c.levels.of)
	return figures.Of("coverage-"+t.name, c.means.share(), "%", figures.Within(98.5, 99.5), note)
}

func (t trial) describe() string {
	text := fmt.Sprintf("%d blocks, %d contenders, %d levels", t.blocks, t.contenders, t.levels)
	if t.duet {
		text += ", in turns"
	}
	if t.note != "" {
		text += ", " + t.note
	}
	return text
}

// tally compares what a world's runs say with its truth.
type tally struct {
	world world
	runs  int
	// falseRuns have any false statement: a result, level or load names a wrong winner (winners), calls two equal
	// that differ by more than the margin (equals), or says that a load decides where no two levels differ in
	// direction (depends).
	falseRuns, winners, equals, depends int
	// means and levels count the deciding metric's intervals, and those that hold the truth.
	means, levels covered
	// decidedRuns have any winner.
	decidedRuns int
}

type covered struct{ hold, of int }

func (c covered) share() float64 { return share(c.hold, c.of) }

func share(k, n int) float64 { return 100 * float64(k) / float64(n) }

// upperBound is the one-sided 95 % upper bound of a share, by Clopper and Pearson.
func upperBound(k, n int) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

// lowerBound is the lower bound at 99.9 %: a share above a limit by it is not chance.
func lowerBound(k, n int) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(0.001)
}

type said struct{ winner, equal, depends, decided bool }

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

// falselyDepends reports whether DependsOnLoad is false. If levels have different winners, there must be levels of
// either sign; if all winners agree, the mean must be within the margin.
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

// verdict compares a verdict with the true effect: more cost is worse in every metric.
func (s *said) verdict(v verdict.Verdict, effect float64) {
	s.winner = s.winner || v == verdict.Better && effect >= 0 || v == verdict.Worse && effect <= 0
	s.equal = s.equal || v == verdict.NoDifference && math.Abs(effect) > math.Log1p(inference.EquivalenceMargin)
	s.decided = s.decided || v == verdict.Better || v == verdict.Worse || v == verdict.DependsOnLoad || v == verdict.Mixed
}

func (s *said) results(list []verdict.Result, effect float64) {
	for _, r := range list {
		s.verdict(r.Verdict, effect)
	}
}

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

func TestWhatIsFalse(t *testing.T) {
	level := func(v verdict.Verdict) verdict.LevelComparison {
		return verdict.LevelComparison{Verdict: v, Results: []verdict.Result{{Verdict: verdict.Inconclusive}}}
	}
	run := func(load verdict.Verdict, levels ...verdict.Verdict) verdict.Comparison {
		c := verdict.Comparison{Verdict: load, Overall: []verdict.Result{{Verdict: verdict.Inconclusive}}}
		for _, v := range levels {
			c.Levels = append(c.Levels, level(v))
		}
		return c
	}
	const none = verdict.Inconclusive
	for name, tc := range map[string]struct {
		effects []float64
		said    verdict.Comparison
		want    tally
	}{
		"nothing is said of equals":               {[]float64{0, 0}, run(none, none, none), tally{}},
		"equals are called so":                    {[]float64{0, 0}, run(verdict.NoDifference, verdict.NoDifference, none), tally{}},
		"a winner among equals":                   {[]float64{0, 0}, run(verdict.Better, none, none), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"a winner at an equal level":              {[]float64{0.1, 0}, run(none, none, verdict.Worse), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"a mean that differs as one level does":   {[]float64{0.1, 0}, run(verdict.Worse, verdict.Worse, none), tally{decidedRuns: 1}},
		"the wrong winner":                        {[]float64{0.1, 0.1}, run(verdict.Better, none, none), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"no difference where there is one":        {[]float64{0.1, 0}, run(none, verdict.NoDifference, none), tally{equals: 1, falseRuns: 1}},
		"no difference within the margin":         {[]float64{0.04, 0.04}, run(verdict.NoDifference, none, none), tally{}},
		"no difference over levels that cross":    {[]float64{0.1, -0.1}, run(verdict.NoDifference, none, none), tally{equals: 1, falseRuns: 1}},
		"a single winner where the mean is 0":     {[]float64{0.1, -0.1}, run(verdict.Better, none, none), tally{winners: 1, falseRuns: 1, decidedRuns: 1}},
		"levels that cross have winners":          {[]float64{0.1, -0.1}, run(verdict.DependsOnLoad, verdict.Worse, verdict.Better), tally{decidedRuns: 1}},
		"the load decides where one level is off": {[]float64{0.1, 0}, run(verdict.DependsOnLoad, verdict.Worse, none), tally{depends: 1, falseRuns: 1, decidedRuns: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := tally{world: world{effects: [][]float64{tc.effects}}}
			got.see([]verdict.Comparison{tc.said})
			if got.winners != tc.want.winners || got.equals != tc.want.equals || got.depends != tc.want.depends ||
				got.falseRuns != tc.want.falseRuns || got.decidedRuns != tc.want.decidedRuns {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWhatAnIntervalHolds(t *testing.T) {
	low, high := 1.05, 1.15
	for name, tc := range map[string]struct {
		metric verdict.Metric
		effect float64
		want   int
	}{
		"the cost that is true":             {verdict.CPUPerRequest, math.Log(1.1), 1},
		"equality, which is not":            {verdict.CPUPerRequest, 0, 0},
		"a throughput that grew by as much": {verdict.Throughput, -math.Log(1.1), 1},
		"and not one that fell":             {verdict.Throughput, math.Log(1.1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			var c covered
			c.see(verdict.Result{Metric: tc.metric, Low: &low, High: &high}, tc.effect)
			if c.of != 1 || c.hold != tc.want {
				t.Errorf("%d of %d, want %d", c.hold, c.of, tc.want)
			}
		})
	}
}

func TestUpperBound(t *testing.T) {
	for name, tc := range map[string]struct {
		k, n int
		want float64
	}{
		"none of 59 is the rule of three": {0, 59, 1 - math.Pow(0.05, 1.0/59)},
		"all":                             {5, 5, 1},
		"100 of 10,000":                   {100, 10_000, 0.011797},
	} {
		t.Run(name, func(t *testing.T) {
			if got := upperBound(tc.k, tc.n); math.Abs(got-tc.want) > 1e-5 {
				t.Errorf("got %f, want %f", got, tc.want)
			}
		})
	}
}
