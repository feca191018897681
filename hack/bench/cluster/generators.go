package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/measured"
	"loadstone.dev/loadstone/internal/validity"
)

// benchGenerators is the number of generator pods that start together. They share CPUs, since few machines have one for each.
const benchGenerators = 4

func (s Sizes) generatorsRun() *v1alpha1.BenchmarkRun {
	run := benchmarkRun("bench-generators", 1, 1, s.blocks, []int32{8, 40, 80, 120}, "gohttp")
	run.Spec.Loads[0].Generators.Pods = benchGenerators
	run.Spec.Placement.GeneratorPinning = v1alpha1.Preferred
	return run
}

// Generators measures how far apart several generators start, by the first connection of each, and what the agents themselves use.
func (b *Bench) Generators(ctx context.Context) ([]figures.Figure, error) {
	p, err := b.perform(ctx, b.sizes.generatorsRun(), nil)
	if err != nil {
		return nil, err
	}
	table, err := analysis.Analyse(p.data)
	if err != nil {
		return nil, fmt.Errorf("analysing the run: %w", err)
	}
	var skews []time.Duration
	var agents, observers []float64
	onServer := 0
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			if micros, ok := c.Observations[measured.StartSkew]; ok {
				skews = append(skews, time.Duration(micros*float64(time.Microsecond)))
			}
			if share, ok := c.Observations[measured.AgentShare]; ok {
				agents = append(agents, 100*share)
			}
			if slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == validity.ObserverOnServer }) {
				onServer++
			}
		}
	}
	for _, t := range p.data.Trials {
		for _, c := range t.Servers[0].Cells {
			observers = append(observers, 100*float64(c.ObserverCPUNanos)/float64(c.Ended.Sub(c.Started)))
		}
	}
	if len(skews) == 0 || len(agents) == 0 || len(observers) == 0 {
		return nil, fmt.Errorf("reading the run: %d starts, %d agents and %d observers were seen", len(skews), len(agents), len(observers))
	}
	n := fmt.Sprintf("%d pods, n=%d cells", benchGenerators, len(skews))
	return []figures.Figure{
		figures.Of("start-skew-median", 1e3*figures.Median(skews).Seconds(), "ms", figures.AtMost(2), n+", "+figures.Spread(skews)),
		figures.Of("start-skew-worst", 1e3*slices.Max(skews).Seconds(), "ms", figures.AtMost(10), n),
		figures.Of("agent-of-generator", slices.Max(agents), "% of a CPU", figures.AtMost(1), fmt.Sprintf("the busiest agent of each cell, largest of n=%d", len(agents))),
		figures.Of("observer", slices.Max(observers), "% of a CPU", figures.AtMost(1), fmt.Sprintf("largest of n=%d cells", len(observers))),
		figures.Of("cells-with-observer-on-server", float64(onServer), "cells", figures.AtMost(0), fmt.Sprintf("n=%d", len(observers))),
	}, nil
}
