package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// weightSlack is how far weights may miss 1: three of a third are written as 0.333.
const weightSlack = 0.002

// checkWeights wants weights of all loads, or of none, that add up to 1.
func checkWeights(spec v1alpha1.BenchmarkRunSpec) *Violation {
	var sum float64
	given := 0
	for i, l := range spec.Loads {
		if l.Weight == "" {
			continue
		}
		w, err := strconv.ParseFloat(l.Weight, 64)
		switch {
		case err != nil || !(w > 0 && w <= 1):
			return invalid("spec.loads[%d].weight is %q: give a decimal above 0 and at most 1, such as \"0.25\"", i, l.Weight)
		case l.Search != nil:
			return invalid("spec.loads[%d].weight belongs to no search, whose rates are compared by themselves: leave it out", i)
		}
		sum, given = sum+w, given+1
	}
	loads := 0
	for i, l := range spec.Loads {
		if l.Search != nil {
			continue
		}
		loads++
		if given > 0 && l.Weight == "" {
			return invalid("spec.loads[%d].weight is absent, and other loads have one: give each load its weight, or none", i)
		}
	}
	switch {
	case given > 0 && loads == 1:
		return invalid("spec.loads has one load with levels, so that its weight says nothing: leave weight out")
	case given > 0 && math.Abs(sum-1) > weightSlack:
		return invalid("the weights of spec.loads add up to %v: make them add up to 1", math.Round(sum*1e4)/1e4)
	}
	return nil
}

// checkPercentiles wants percentiles that every load has: turns on one CPU leave no latencies, and ab gives whole percents.
func checkPercentiles(spec v1alpha1.BenchmarkRunSpec) *Violation {
	if len(spec.LatencyPercentiles) == 0 {
		return nil
	}
	if duetOrder(spec) != "" {
		return invalid("spec.latencyPercentiles compares latencies, and spec.order SlicedDuet has none, since a frozen generator spoils them: leave it out, or choose spec.order Blocks")
	}
	for k, percentile := range spec.LatencyPercentiles {
		if !slices.Contains(v1alpha1.Percentiles, percentile) {
			return invalid("spec.latencyPercentiles[%d] is %s: give some of %s", k, percentile, strings.Join(v1alpha1.Percentiles, ", "))
		}
		for i, l := range spec.Loads {
			if l.Tool == v1alpha1.ToolAb && strings.Contains(percentile, ".") {
				return invalid("spec.latencyPercentiles[%d] is %s, and ab, the tool of spec.loads[%d], gives whole percents only: name 99, or choose wrk or k6", k, percentile, i)
			}
		}
	}
	return nil
}

// checkAnswer refuses a ratio of throughputs at an imposed rate: both sides were asked for the same rate, so it says nothing of either.
func checkAnswer(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
	if o.Of != v1alpha1.ComparedThroughput {
		return nil
	}
	for _, l := range spec.Loads {
		for _, level := range l.Levels {
			if l.Search == nil && level.RequestsPerSecond > 0 && (o.Load == "" || o.Load == l.Name) &&
				(o.Connections == 0 || o.Connections == level.Connections) && (o.RequestsPerSecond == 0 || o.RequestsPerSecond == level.RequestsPerSecond) {
				return invalid("spec.objectives[%d] bounds a ratio of Throughput, and load %s imposes %d requests/s, which all sides are asked for alike: use of: ServerCPUPerRequest or LatencyPercentile, or name other levels", i, l.Name, level.RequestsPerSecond)
			}
		}
	}
	return nil
}
