package verdicts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

const (
	// powerRuns are drawn for each share of runs that find something.
	powerRuns = 2_000
	// spreadBlocks are drawn to know the spread of a world.
	spreadBlocks = 50_000
	// designCell and designProcess are the noise of a server on a machine of the kind for which sequential blocks were designed, and designLevels
	// the levels of its runs.
	designCell, designProcess, designLevels = 0.04, 0.03, 6
	// sweepCell and sweepLevels are those of the recorded residuals of that machine: a pair at a level has an sd of 6.4 %, and levels differ by themselves.
	sweepCell, sweepLevels = 0.064 / math.Sqrt2, 4
	// tolerance is by how many hundredths of all runs a stated power may be off.
	tolerance = 5
	// fewVoid is the share of void cells in the figures of what is found.
	fewVoid = 0.05
)

// setting is a world of equals whose power is looked at.
type setting struct {
	name string
	world
}

// settings are normal noise with the recorded spread, which tests the arithmetic, the recorded noise itself, and the noise of the design.
func (n noises) settings() []setting {
	normal := n.asRecorded(n.ordinary())
	normal.noise = normalServer(components(n.sequential))
	return []setting{{"normal", normal}, {"recorded", n.asRecorded(n.ordinary())}, {"recorded-duet", n.asRecorded(n.turns())}, {"design", design(contenders, runBlocks)}}
}

// asRecorded has as many levels as were recorded: the noise of a process is in all of them, and more levels would need a second process.
func (n noises) asRecorded(w world) world {
	w.levels = len(n.sequential[0].cpu)
	return w
}

// designed is a run of one contender or more on the machine for which the default experiment was designed.
func designed(contenders int) world {
	return world{noise: normalServer(sweepCell, 0), contenders: contenders, levels: sweepLevels, blocks: runBlocks}
}

func design(contenders, blocks int) world {
	return world{noise: normalServer(designCell, designProcess), contenders: contenders, levels: designLevels, blocks: blocks}
}

// components are the standard deviations of one server's cells, and of its process over all levels, that the recorded pairs have.
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

// spreads are the true standard deviations of the deciding metric's logs in a block: of the mean over the levels, and at one level.
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

// decides is the metric that decides in a world.
func (w world) decides() verdict.Metric {
	if w.duet || w.bound || w.rate {
		return verdict.CPUPerRequest
	}
	return verdict.Throughput
}

// exact is a run of the world in which all that is measured is exactly so: in each metric and at each level the first contender's cost is off by an
// effect, and the block's logs have a standard deviation. The other contenders are equals.
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

// with is the world in which the first contender truly costs more at its first levels.
func (w world) with(effect float64, levels int) world {
	w.effects = everyContender(1, make([]float64, w.levels)...)
	for l := range levels {
		w.effects[0][l] = effect
	}
	return w
}

// found draws runs and counts those in which a function finds what it looks for.
func (w world) found(ctx context.Context, runs int, seen func([]verdict.Comparison) bool) (int, error) {
	var hits atomic.Int64
	err := parallel(ctx, runs, func() func(*rand.Rand) {
		return func(random *rand.Rand) { hits.Add(int64(asInt(seen(w.decide(random, w.draw(random), false))))) }
	})
	return int(hits.Load()), err
}

func overallWorse(run []verdict.Comparison) bool { return run[0].Deciding().Verdict == verdict.Worse }

func firstLevelWorse(run []verdict.Comparison) bool {
	return run[0].Levels[0].Deciding().Verdict == verdict.Worse
}

func overallDecided(run []verdict.Comparison) bool {
	return run[0].Deciding().Verdict != verdict.Inconclusive
}

// Power holds what runs say of their power against what is found, and tells how often a difference of 5 % is.
func (b Bench) Power(ctx context.Context) ([]figures.Figure, error) {
	n, err := b.noises()
	if err != nil {
		return nil, err
	}
	var list []figures.Figure
	for _, s := range n.settings() {
		b.Log.Step("power: %s", s.name)
		for _, measure := range []func(context.Context) ([]figures.Figure, error){s.statedPower, s.blocksNeeded} {
			more, err := measure(ctx)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	more, err := n.findings(ctx)
	return append(list, more...), err
}

// statedPower plants what a run calls detectable.
func (s setting) statedPower(ctx context.Context) ([]figures.Figure, error) {
	mean, level := s.spreads()
	random := rand.New(rand.NewPCG(0, 0))
	overall := s.decide(random, s.exact(0, mean), true)[0].Deciding().Detectable
	single := s.decide(random, s.exact(0, level), true)[0].Levels[0].Deciding().Detectable
	if overall == nil || single == nil {
		return nil, fmt.Errorf("asking for what is detectable in %s: a run of %d blocks does not say it", s.name, s.blocks)
	}
	var list []figures.Figure
	for _, c := range []struct {
		what       string
		detectable float64
		sd         float64
		levels     int
		seen       func([]verdict.Comparison) bool
	}{{"mean", *overall, mean, s.levels, overallWorse}, {"level", *single, level, 1, firstLevelWorse}} {
		hits, err := s.with(math.Log1p(c.detectable), c.levels).found(ctx, powerRuns, c.seen)
		if err != nil {
			return nil, err
		}
		note := fmt.Sprintf("%d of %d runs of %d blocks, %d contenders, %d levels find %.2f %%, which they call detectable in %.0f %% at a true sd of %.2f %%",
			hits, powerRuns, s.blocks, s.contenders, s.levels, 100*c.detectable, 100*inference.Power, 100*c.sd)
		list = append(list, figures.Of("stated-power-"+c.what+"-"+s.name, share(hits, powerRuns), "%", nearPower(), note))
	}
	return list, nil
}

// nearPower is the aim of a stated power.
func nearPower() figures.Aim {
	return figures.Within(100*inference.Power-tolerance, 100*inference.Power+tolerance)
}

// blocksNeeded draws runs of as many blocks as a run of ten says that it needs.
func (s setting) blocksNeeded(ctx context.Context) ([]figures.Figure, error) {
	mean, _ := s.spreads()
	var list []figures.Figure
	for _, percent := range []float64{0, 2, 3, 6} {
		effect := math.Log1p(percent / 100)
		name := fmt.Sprintf("blocks-needed-%.0f-percent-%s", percent, s.name)
		asked := s.decide(rand.New(rand.NewPCG(0, 0)), s.exact(effect, mean), true)[0].Deciding()
		if asked.BlocksNeeded == 0 {
			missing := fmt.Sprintf("%d blocks of an sd of %.2f %% say no number: %s", s.blocks, 100*mean, asked.Verdict)
			list = append(list, figures.Figure{Name: name, Unit: "%", Aim: nearPower(), Missing: missing})
			continue
		}
		enough := s.with(effect, s.levels)
		enough.blocks = asked.BlocksNeeded
		hits, err := enough.found(ctx, powerRuns, overallDecided)
		if err != nil {
			return nil, err
		}
		aim, note := nearPower(), fmt.Sprintf("%d of %d runs of %d blocks decide, which %d blocks say are needed at a true difference of %.0f %% and an sd of %.2f %%",
			hits, powerRuns, asked.BlocksNeeded, s.blocks, percent, 100*mean)
		if asked.BlocksNeeded == s.blocks+1 {
			aim, note = figures.AtLeast(100*inference.Power-tolerance), note+"; one more than there are is the least that can be said"
		}
		list = append(list, figures.Of(name, share(hits, powerRuns), "%", aim, note))
	}
	return list, nil
}

// findings are how often 5 % is found in the mean over the levels.
func (n noises) findings(ctx context.Context) ([]figures.Figure, error) {
	few := func(random *rand.Rand, _ deviation) bool { return random.Float64() < fewVoid }
	ordinary := n.asRecorded(n.ordinary())
	byCPU := ordinary
	byCPU.bound = true
	alone := func(w world) world {
		w.contenders = 1
		return w
	}
	var list []figures.Figure
	for _, s := range []setting{
		{"recorded", ordinary},
		{"recorded-one-contender", alone(ordinary)},
		{"recorded-cpu-time", byCPU},
		{"recorded-duet", n.asRecorded(n.turns())},
		{"sweep", designed(contenders)},
		{"sweep-one-contender", designed(1)},
		{"design", design(contenders, runBlocks)},
		{"design-one-contender", design(1, runBlocks)},
		{"design-14-blocks", design(contenders, voidBlocks)},
		{"design-14-blocks-one-contender", design(1, voidBlocks)},
	} {
		s.void = few
		mean, _ := s.spreads()
		hits, err := s.with(math.Log1p(0.05), s.levels).found(ctx, powerRuns, overallWorse)
		if err != nil {
			return nil, err
		}
		aim := figures.AtLeast(70)
		note := fmt.Sprintf("%d of %d runs of %d blocks, %d contenders, %d levels, 5 %% of all cells void; a block's mean over the levels has an sd of %.2f %%",
			hits, powerRuns, s.blocks, s.contenders, s.levels, 100*mean)
		list = append(list, figures.Of("found-5-percent-"+s.name, share(hits, powerRuns), "%", aim, note))
	}
	return list, nil
}

// Duet compares sliced pairs with those measured one after the other, and holds a planted difference against what was found.
func (b Bench) Duet(context.Context) ([]figures.Figure, error) {
	r, err := b.allowed()
	if err != nil {
		return nil, err
	}
	return duetFigures(r)
}

func duetFigures(r aa.Recording) ([]figures.Figure, error) {
	alone, together := spread(logsOf(r, sequential)), spread(logsOf(r, sliced))
	note := fmt.Sprintf("sd of a pair's CPU time per request: sliced %.2f %%, sequential %.2f %%, %d blocks, each server %.1f s under load either way",
		100*together, 100*alone, len(r.Blocks), float64(r.CellMillis)/1000)
	list := []figures.Figure{figures.Of("sliced-to-sequential-sd", together/alone, "ratio", figures.AtMost(0.25), note)}
	if r.Planted == nil {
		return list, errors.New("reading the recorded blocks: they have no planted pairs; the recording was interrupted")
	}
	planted, err := plantedFigure(r)
	known := figures.Of("planted-known-within", 100*r.Planted.Uncertainty(), "% of itself", figures.AtMost(1),
		fmt.Sprintf("standard error of the planted cost, by %d measurements of its loop and %d calibration pairs", r.Planted.Measurements(), len(r.Planted.Calibration)))
	return append(list, planted, known), err
}

// plantedFigure is by how many hundredths of the CPU time what was found differs from what was planted.
func plantedFigure(r aa.Recording) (figures.Figure, error) {
	p := *r.Planted
	var ratios, cpu, throughput []float64
	for _, pair := range p.Pairs {
		c, t := pair.Logs()
		ratios, cpu, throughput = append(ratios, math.Exp(c)), append(cpu, c), append(throughput, t)
	}
	i, err := figures.Geometric(ratios)
	if err != nil {
		return figures.Figure{}, err
	}
	// The CPU time decides, since it is what was planted.
	found := verdict.Ratios{
		Point: record.Point{Load: "planted", Connections: 1}, Logs: map[verdict.Metric][]float64{verdict.CPUPerRequest: cpu, verdict.Throughput: throughput},
	}
	verdict := verdict.Decide([][]verdict.Ratios{{found}}, verdict.Rulebook{Duet: true})[0].Verdict
	note := fmt.Sprintf("planted %.2f %%, found %.2f %% (%.0f %% interval %.2f to %.2f) by %d sliced pairs with %.1f s under load for each server, verdict %s",
		100*p.Size(), 100*(i.Mean-1), 100*figures.Confidence, 100*(i.Low-1), 100*(i.High-1), len(ratios), float64(r.PlantedMillis)/1000, verdict)
	return figures.Of("planted-found-within", 100*math.Abs(i.Mean-1-p.Size()), "% points", figures.AtMost(1), note), nil
}

const (
	// runDeviation is by how much the log of a run's true ratio to the anchor differs from run to run, blockDeviation from block to block.
	runDeviation, blockDeviation = 0.02, 0.02
	// regressionRuns are drawn for each share of false changes.
	regressionRuns = 20_000
)

// ratiosToAnchor draws the logs of a run's ratios to its anchor.
func ratiosToAnchor(random *rand.Rand, blocks int) []float64 {
	out, whole := make([]float64, blocks), runDeviation*random.NormFloat64()
	for b := range out {
		out[b] = whole + blockDeviation*random.NormFloat64()
	}
	return out
}

// falseChanges counts the runs that differ from earlier ones of the same server by their interval.
func falseChanges(ctx context.Context, runs, earlier int) (int, error) {
	var wrong atomic.Int64
	err := parallel(ctx, runs, func() func(*rand.Rand) {
		return func(random *rand.Rand) {
			then := make([][]float64, earlier)
			for k := range then {
				then[k] = ratiosToAnchor(random, runBlocks)
			}
			_, low, high := objectives.Change(ratiosToAnchor(random, runBlocks), then)
			wrong.Add(int64(asInt(low > 1 || high < 1)))
		}
	})
	return int(wrong.Load()), err
}

// Regression draws runs of an unchanged server on different days.
func (b Bench) Regression(ctx context.Context) ([]figures.Figure, error) {
	var list []figures.Figure
	for _, c := range []struct {
		earlier int
		aim     figures.Aim
	}{{5, figures.AtMost(1.5)}, {objectives.LeastRegressionRuns, figures.AtMost(1.5)}, {1, figures.Aim{}}} {
		wrong, err := falseChanges(ctx, regressionRuns, c.earlier)
		if err != nil {
			return nil, err
		}
		note := fmt.Sprintf("one-sided 95 %% upper bound; the interval of %d of %d runs of %d blocks leaves out 1, normal with an sd of %.0f %% from run to run and %.0f %% from block to block",
			wrong, regressionRuns, runBlocks, 100*runDeviation, 100*blockDeviation)
		if c.earlier < objectives.LeastRegressionRuns {
			note += "; such an interval says that it is of the spread within runs only"
		}
		list = append(list, figures.Of(fmt.Sprintf("false-regressions-%d-earlier", c.earlier), 100*upperBound(wrong, regressionRuns), "%", c.aim, note))
	}
	return list, nil
}
