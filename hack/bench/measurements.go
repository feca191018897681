package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/hack/bench/cluster"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/merging"
	"loadstone.dev/loadstone/hack/bench/progress"
	"loadstone.dev/loadstone/hack/bench/verdicts"
)

// measurement yields figures; reckoned is about how long it takes.
type measurement struct {
	name      string
	onCluster bool
	reckoned  time.Duration
	measure   func(context.Context) ([]figures.Figure, error)
}

// all are the measurements. Those that need no cluster are of the statistics.
func all(c *cluster.Bench, log *progress.Log) []measurement {
	takes, merged, drawn := c.Times(), merging.Bench{Log: log}, verdicts.Bench{Log: log}
	return []measurement{
		{"start", true, takes.Start, c.Start},
		{"sweep", true, takes.Sweep, c.Sweep},
		{"pairs", true, takes.Pairs, c.Pairs},
		{"generators", true, takes.Generators, c.Generators},
		{"memory", true, takes.Memory, c.Memory},
		{"merging", false, 15 * time.Second, merged.Measure},
		{"verdicts", false, 90 * time.Second, drawn.Verdicts},
		{"power", false, 60 * time.Second, drawn.Power},
		{"regression", false, time.Second, drawn.Regression},
		{"duet", false, time.Second, drawn.Duet},
	}
}

func names(list []measurement) string {
	all := make([]string, len(list))
	for i, m := range list {
		all[i] = m.name
	}
	return strings.Join(all, ", ")
}

// choose takes those that are named, in the order in which they are, with commas between them; all if none is.
func choose(all []measurement, only string) ([]measurement, error) {
	if only == "" {
		return all, nil
	}
	var chosen []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("parsing flags: -only %s: there are %s", name, names(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// onCluster says whether any of them needs a cluster.
func onCluster(list []measurement) bool {
	return slices.ContainsFunc(list, func(m measurement) bool { return m.onCluster })
}

// reckoned is about how long all of them take.
func reckoned(list []measurement) time.Duration {
	var sum time.Duration
	for _, m := range list {
		sum += m.reckoned
	}
	return sum
}
