package verdicts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/objectives"
)

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
