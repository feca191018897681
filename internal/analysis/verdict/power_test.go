package verdict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

const (
	// spreadBlocks are drawn to find the spread of a world.
	spreadBlocks = 50_000
	// These are the noise of the machine that sequential blocks were designed for, and its runs' levels.
	designCell, designProcess, designLevels = 0.04, 0.03, 6
	// These are the recorded residuals of that machine: a pair at a level has an sd of 6.4 %, and levels differ by
	// themselves.
	sweepCell, sweepLevels = 0.064 / math.Sqrt2, 4
	// tolerance is the allowed error of a stated power, in percent of all runs.
	tolerance = 5.0
	// fewVoid is the share of void cells.
	fewVoid = 0.05
)

type setting struct {
	name string
	world
}

// settings are normal noise with the recorded spread (it tests the arithmetic), the recorded noise, and the design's
// noise.
func (n noises) settings() []setting {
	normal := n.asRecorded(n.ordinary())
	normal.noise = normalServer(components(n.sequential))
	return []setting{{"normal", normal}, {"recorded", n.asRecorded(n.ordinary())}, {"recorded-duet", n.asRecorded(n.turns())}, {"design", design(contenders, runBlocks)}}
}

// asRecorded uses as many levels as were recorded: the noise of a process is in all of them, and more would need a
// second process.
func (n noises) asRecorded(w world) world {
	w.levels = len(n.sequential[0].cpu)
	return w
}

func designed(contenders int) world {
	return world{noise: normalServer(sweepCell, 0), contenders: contenders, levels: sweepLevels, blocks: runBlocks}
}

func design(contenders, blocks int) world {
	return world{noise: normalServer(designCell, designProcess), contenders: contenders, levels: designLevels, blocks: blocks}
}

// components are the recorded standard deviations of a server's cells, and of its process over all levels.
func components(recorded []logs) (cell, process float64) {
	var means float64
	for _, b := range recorded {
		var mean float64
		for _, v := range b.cpu {
			mean += v / float64(len(b.cpu))
		}
		means += mean * mean / float64(len(recorded))
	}
	all, levels := spread(recorded)*spread(recorded), float64(len(recorded[0].cpu))
	within := max(0, (all-means)*levels/(levels-1))
	return math.Sqrt(within / 2), math.Sqrt(max(0, all-within) / 2)
}

// spreads are the true standard deviations of the deciding metric's logs in a block: of the mean over levels, and at
// one level.
func (w world) spreads() (mean, level float64) {
	w.blocks, w.contenders, w.effects, w.void = spreadBlocks, 1, nil, nil
	run := w.draw(rand.New(rand.NewPCG(resamplingSeed, spreadBlocks)))
	for b := range w.blocks {
		var sum float64
		for l := range w.levels {
			v := run[0][l].Logs[w.decides()][b]
			sum += v / float64(w.levels)
			level += v * v / float64(w.blocks*w.levels)
		}
		mean += sum * sum / float64(w.blocks)
	}
	return math.Sqrt(mean), math.Sqrt(level)
}

func (w world) decides() verdict.Metric {
	if w.duet || w.bound || w.rate {
		return verdict.CPUPerRequest
	}
	return verdict.Throughput
}

// exact is a run with exact measurements: in each metric and level, the first contender's cost is off by effect, and
// the blocks' logs have this standard deviation. Other contenders are equal.
func (w world) exact(effect, sd float64) drawn {
	quiet := w
	quiet.noise = func(_ *rand.Rand, levels int) []deviation { return make([]deviation, levels) }
	run := quiet.with(effect, w.levels).draw(rand.New(rand.NewPCG(0, 0)))
	step := sd * math.Sqrt(float64(w.blocks-1)/float64(w.blocks))
	for _, levels := range run {
		for _, l := range levels {
			for _, values := range l.Logs {
				for b := range values {
					values[b] += step * float64(1-2*(b%2))
				}
			}
		}
	}
	return run
}

// with makes the first contender cost more at its first levels.
func (w world) with(effect float64, levels int) world {
	w.effects = everyContender(1, make([]float64, w.levels)...)
	for l := range levels {
		w.effects[0][l] = effect
	}
	return w
}

func (w world) found(runs int, seen func([]verdict.Comparison) bool) (hits int) {
	draw(runs, func(random *rand.Rand) { hits += asInt(seen(w.decide(random, w.draw(random), false))) })
	return hits
}

func overallWorse(run []verdict.Comparison) bool { return run[0].Deciding().Verdict == verdict.Worse }

func firstLevelWorse(run []verdict.Comparison) bool {
	return run[0].Levels[0].Deciding().Verdict == verdict.Worse
}

func overallDecided(run []verdict.Comparison) bool {
	return run[0].Deciding().Verdict != verdict.Inconclusive
}

func powerRuns(t *testing.T) int {
	t.Helper()
	return runsToDraw(t) / 5
}

// held fails if the runs already show that the share is not near the stated power. It returns the aim.
func held(t *testing.T, what string, hits, runs int) figures.Aim {
	t.Helper()
	if lowerBound(hits, runs) > inference.Power+tolerance/100 || lowerBound(runs-hits, runs) > 1-inference.Power+tolerance/100 {
		t.Errorf("%s: %d of %d runs find it, want about %.0f %%", what, hits, runs, 100*inference.Power)
	}
	return figures.Within(100*inference.Power-tolerance, 100*inference.Power+tolerance)
}

// TestAStatedPowerIsKept plants what a run calls detectable. At a duet's single level more is found: its mean is
// decided first, which frees its share of the budget.
func TestAStatedPowerIsKept(t *testing.T) {
	for _, s := range recordedNoises(t).settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mean, single := s.spreads()
			for _, c := range []struct {
				what   string
				sd     float64
				levels int
				of     func(verdict.Comparison) verdict.Result
				seen   func([]verdict.Comparison) bool
			}{
				{"mean", mean, s.levels, verdict.Comparison.Deciding, overallWorse},
				{"level", single, 1, func(c verdict.Comparison) verdict.Result { return c.Levels[0].Deciding() }, firstLevelWorse},
			} {
				detectable := c.of(s.decide(rand.New(rand.NewPCG(0, 0)), s.exact(0, c.sd), true)[0]).Detectable
				if detectable == nil {
					t.Fatalf("a run of %d blocks does not say what is detectable", s.blocks)
				}
				runs := powerRuns(t)
				hits := s.with(math.Log1p(*detectable), c.levels).found(runs, c.seen)
				note := fmt.Sprintf("%d of %d runs of %d blocks, %d contenders, %d levels find %.2f %%, which they call detectable in %.0f %% at a true sd of %.2f %%",
					hits, runs, s.blocks, s.contenders, s.levels, 100**detectable, 100*inference.Power, 100*c.sd)
				aim := nearPower()
				if c.what == "mean" {
					aim = held(t, c.what, hits, runs)
				}
				t.Log(figures.Of("stated-power-"+c.what+"-"+s.name, share(hits, runs), "%", aim, note).Line())
			}
		})
	}
}

// TestAsManyBlocksAsARunAsksForDecide draws runs with the number of blocks that a run of ten asks for.
func TestAsManyBlocksAsARunAsksForDecide(t *testing.T) {
	for _, s := range recordedNoises(t).settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mean, _ := s.spreads()
			for _, percent := range []float64{0, 2, 3, 6} {
				s.blocksNeeded(t, percent, mean)
			}
		})
	}
}

func (s setting) blocksNeeded(t *testing.T, percent, sd float64) {
	t.Helper()
	effect := math.Log1p(percent / 100)
	name := fmt.Sprintf("blocks-needed-%.0f-percent-%s", percent, s.name)
	asked := s.decide(rand.New(rand.NewPCG(0, 0)), s.exact(effect, sd), true)[0].Deciding()
	if asked.BlocksNeeded == 0 {
		missing := fmt.Sprintf("%d blocks of an sd of %.2f %% say no number: %s", s.blocks, 100*sd, asked.Verdict)
		t.Log(figures.Figure{Name: name, Unit: "%", Aim: nearPower(), Missing: missing}.Line())
		return
	}
	enough, runs := s.with(effect, s.levels), powerRuns(t)
	enough.blocks = asked.BlocksNeeded
	hits := enough.found(runs, overallDecided)
	note := fmt.Sprintf("%d of %d runs of %d blocks decide, which %d blocks say are needed at a true difference of %.0f %% and an sd of %.2f %%",
		hits, runs, asked.BlocksNeeded, s.blocks, percent, 100*sd)
	aim := figures.AtLeast(100*inference.Power - tolerance) // One block more than there are is the least that can be said.
	if asked.BlocksNeeded > s.blocks+1 {
		aim = held(t, name, hits, runs)
	}
	t.Log(figures.Of(name, share(hits, runs), "%", aim, note).Line())
}

func nearPower() figures.Aim {
	return figures.Within(100*inference.Power-tolerance, 100*inference.Power+tolerance)
}

// TestWhatIsFoundOfFivePercent prints how often 5 % is found in the mean over levels: seldom on a noisy machine,
// whatever the method.
func TestWhatIsFoundOfFivePercent(t *testing.T) {
	n := recordedNoises(t)
	few := func(random *rand.Rand, _ deviation) bool { return random.Float64() < fewVoid }
	alone := n.asRecorded(n.ordinary())
	byCPU := alone
	byCPU.bound, alone.contenders = true, 1
	for _, s := range []setting{
		{"recorded", n.asRecorded(n.ordinary())},
		{"recorded-one-contender", alone},
		{"recorded-cpu-time", byCPU},
		{"recorded-duet", n.asRecorded(n.turns())},
		{"sweep", designed(contenders)},
		{"sweep-one-contender", designed(1)},
		{"design", design(contenders, runBlocks)},
		{"design-one-contender", design(1, runBlocks)},
		{"design-14-blocks", design(contenders, voidBlocks)},
		{"design-14-blocks-one-contender", design(1, voidBlocks)},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.void = few
			mean, _ := s.spreads()
			runs := powerRuns(t)
			hits := s.with(math.Log1p(0.05), s.levels).found(runs, overallWorse)
			note := fmt.Sprintf("%d of %d runs of %d blocks, %d contenders, %d levels, 5 %% of all cells void; a block's mean over the levels has an sd of %.2f %%",
				hits, runs, s.blocks, s.contenders, s.levels, 100*mean)
			t.Log(figures.Of("found-5-percent-"+s.name, share(hits, runs), "%", figures.AtLeast(70), note).Line())
		})
	}
}

// TestPowerOfADesignedSweep has the size of the review that set the aim: one contender, no void cell.
func TestPowerOfADesignedSweep(t *testing.T) {
	w, runs := designed(1), powerRuns(t)
	hits := w.with(math.Log1p(0.05), w.levels).found(runs, overallWorse)
	low := inference.BetaQuantile(0.05, math.Max(float64(hits), 0.5), float64(runs-hits+1))
	note := fmt.Sprintf("5 %% found in %d of %d runs of %d blocks, %d levels, pairs with an sd of %.1f %%; one-sided 95 %% lower bound %.1f %%", hits, runs, w.blocks, w.levels, 100*math.Sqrt2*sweepCell, 100*low)
	t.Log(figures.Of("power-5-percent-four-levels", share(hits, runs), "%", figures.AtLeast(62), note).Line())
	if share(hits, runs) < 50 {
		t.Errorf("5 %% is found in %d of %d runs", hits, runs)
	}
}

func TestAPlantedDifferenceIsFoundByEnoughBlocksOnly(t *testing.T) {
	const runs = 200
	for name, tc := range map[string]struct {
		blocks      int
		planted     float64
		least, most int
	}{
		"too few blocks for any verdict": {5, 0.2, 0, 0},
		"a difference like the noise":    {10, 0.04, runs / 10, runs * 95 / 100},
		"a difference far beyond":        {10, 0.2, runs, runs},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{noise: normalServer(0.035, 0), contenders: contenders, levels: drawnLevels, blocks: tc.blocks}
			if hits := w.with(tc.planted, w.levels).found(runs, overallWorse); hits < tc.least || hits > tc.most {
				t.Errorf("found in %d of %d runs, want %d to %d", hits, runs, tc.least, tc.most)
			}
		})
	}
}

// TestWhatTakingTurnsIsWorth compares sliced with sequential pairs, and found with planted differences.
func TestWhatTakingTurnsIsWorth(t *testing.T) {
	r := recorded(t)
	n := recordedNoises(t)
	apart, together := spread(n.sequential), spread(n.sliced)
	note := fmt.Sprintf("sd of a pair's CPU time per request: sliced %.2f %%, sequential %.2f %%, %d blocks, each server %.1f s under load either way",
		100*together, 100*apart, len(r.Blocks), float64(r.CellMillis)/1000)
	t.Log(figures.Of("sliced-to-sequential-sd", together/apart, "ratio", figures.AtMost(0.25), note).Line())

	var ratios, cpu, throughput []float64
	for _, p := range r.Planted.Pairs {
		c, through := p.logs()
		ratios, cpu, throughput = append(ratios, math.Exp(c)), append(cpu, c), append(throughput, through)
	}
	found, err := figures.Geometric(ratios)
	if err != nil {
		t.Fatal(err)
	}
	// The CPU time decides, since it was planted.
	pairs := verdict.Ratios{
		Point: record.Point{Load: "planted", Connections: 1}, Logs: map[verdict.Metric][]float64{verdict.CPUPerRequest: cpu, verdict.Throughput: throughput},
	}
	said := verdict.Decide([][]verdict.Ratios{{pairs}}, verdict.Rulebook{Duet: true})[0].Verdict
	size, uncertainty := r.Planted.size()
	note = fmt.Sprintf("planted %.2f %%, found %.2f %% (%.0f %% interval %.2f to %.2f) by %d sliced pairs with %.1f s under load for each server, verdict %s",
		100*size, 100*(found.Mean-1), 100*figures.Confidence, 100*(found.Low-1), 100*(found.High-1), len(ratios), float64(r.PlantedMillis)/1000, said)
	t.Log(figures.Of("planted-found-within", 100*math.Abs(found.Mean-1-size), "% points", figures.AtMost(1), note).Line())
	t.Log(figures.Of("planted-known-within", 100*uncertainty, "% of itself", figures.AtMost(1), "standard error of the planted cost").Line())
	if size < found.Low-1 || size > found.High-1 || said != verdict.Worse {
		t.Errorf("planted %.4f, found %+v, verdict %s; want an interval that holds it, and Worse", size, found, said)
	}
}

const (
	// runDeviation is the standard deviation of a run's true log ratio to the anchor between runs, blockDeviation
	// that between blocks.
	runDeviation, blockDeviation = 0.02, 0.02
)

func ratiosToAnchor(random *rand.Rand, blocks int) []float64 {
	out, whole := make([]float64, blocks), runDeviation*random.NormFloat64()
	for b := range out {
		out[b] = whole + blockDeviation*random.NormFloat64()
	}
	return out
}

// TestRegressionSeldomSeesAChangeOfNothing draws runs of an unchanged server on different days, with normal noise.
func TestRegressionSeldomSeesAChangeOfNothing(t *testing.T) {
	runs := 2 * runsToDraw(t)
	for earlier, aim := range map[int]figures.Aim{5: figures.AtMost(1.5), objectives.LeastRegressionRuns: figures.AtMost(1.5), 1: {}} {
		wrong := 0
		draw(runs, func(random *rand.Rand) {
			then := make([][]float64, earlier)
			for k := range then {
				then[k] = ratiosToAnchor(random, runBlocks)
			}
			_, low, high := objectives.Change(ratiosToAnchor(random, runBlocks), then)
			wrong += asInt(low > 1 || high < 1)
		})
		note := fmt.Sprintf("one-sided 95 %% upper bound; the interval of %d of %d runs of %d blocks leaves out 1, normal with an sd of %.0f %% from run to run and %.0f %% from block to block",
			wrong, runs, runBlocks, 100*runDeviation, 100*blockDeviation)
		t.Log(figures.Of(fmt.Sprintf("false-regressions-%d-earlier", earlier), 100*upperBound(wrong, runs), "%", aim, note).Line())
		if earlier >= objectives.LeastRegressionRuns && lowerBound(wrong, runs) > 0.015 {
			t.Errorf("%d earlier runs: %d of %d see a change", earlier, wrong, runs)
		}
		if earlier == 1 && wrong < runs/10 {
			t.Errorf("one earlier run: %d of %d see a change, want many, since it knows nothing of the spread between runs", wrong, runs)
		}
	}
}
