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
	"loadstone.dev/loadstone/internal/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/verdict"
)

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
