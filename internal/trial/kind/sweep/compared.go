package sweep

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// weightSlack is the allowed error of the weights' sum: a third is written as 0.333.
const weightSlack = 0.002

// DefaultLatencyPercentiles are compared by default.
var DefaultLatencyPercentiles = []string{"50", "99"}

func compare(p *record.Plan, spec v1alpha1.BenchmarkRunSpec) {
	p.LatencyPercentiles = latencyPercentiles(spec)
	kind.PlanObjectives(spec, p)
}

func weightOf(l v1alpha1.Load) float64 {
	w, _ := strconv.ParseFloat(l.Weight, 64) // What is no number is no weight.
	return w
}

// checkWeights requires weights of all loads or none, which sum to 1.
func checkWeights(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	var sum float64
	given := 0
	for i, l := range spec.Loads {
		if l.Weight == "" {
			continue
		}
		w, err := strconv.ParseFloat(l.Weight, 64)
		switch {
		case err != nil || !(w > 0 && w <= 1):
			return kind.Invalid("spec.loads[%d].weight is %q: give a decimal above 0 and at most 1, such as \"0.25\"", i, l.Weight)
		case !l.Search.IsZero():
			return kind.Invalid("spec.loads[%d].weight does not apply to a load with search, whose rates are compared separately: leave it out", i)
		}
		sum, given = sum+w, given+1
	}
	loads := 0
	for i, l := range spec.Loads {
		if !l.Search.IsZero() {
			continue
		}
		loads++
		if given > 0 && l.Weight == "" {
			return kind.Invalid("spec.loads[%d].weight is not set, but other loads have one: give every load without search a weight, or none", i)
		}
	}
	switch {
	case given > 0 && loads == 1:
		return kind.Invalid("spec.loads has only one load with levels, so its weight has no effect: leave weight out")
	case given > 0 && math.Abs(sum-1) > weightSlack:
		return kind.Invalid("the weights of spec.loads add up to %v: make them add up to 1", math.Round(sum*1e4)/1e4)
	}
	return nil
}

// checkPercentiles requires existing percentiles; a duet has no latencies.
func checkPercentiles(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	if len(spec.LatencyPercentiles) == 0 {
		return nil
	}
	if isDuet(spec) {
		return kind.Invalid("spec.latencyPercentiles compares latencies, but spec.order SlicedDuet has none, because pausing the generator distorts them: leave it out, or choose spec.order Blocks")
	}
	for k, percentile := range spec.LatencyPercentiles {
		if !slices.Contains(record.Percentiles, percentile) {
			return kind.Invalid("spec.latencyPercentiles[%d] is %s: choose from %s", k, percentile, strings.Join(record.Percentiles, ", "))
		}
	}
	return nil
}

// latencyPercentiles returns the spec's percentiles and those in objectives on ratios.
func latencyPercentiles(spec v1alpha1.BenchmarkRunSpec) []string {
	wanted := spec.LatencyPercentiles
	if len(wanted) == 0 {
		wanted = DefaultLatencyPercentiles
	}
	return slices.DeleteFunc(slices.Clone(record.Percentiles), func(percentile string) bool {
		return !slices.Contains(wanted, percentile) && !slices.ContainsFunc(spec.Objectives, func(o v1alpha1.Objective) bool {
			return o.Of == v1alpha1.ComparedLatencyPercentile && o.Percentile == percentile
		})
	})
}

// checkAnswer refuses a throughput ratio at an imposed rate, which is the same for both sides.
func checkAnswer(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	if o.Of != v1alpha1.ComparedThroughput {
		return nil
	}
	for _, l := range spec.Loads {
		for _, level := range l.Levels {
			if l.Search.IsZero() && level.RequestsPerSecond > 0 && (o.Load == "" || o.Load == l.Name) &&
				(o.Connections == 0 || o.Connections == level.Connections) && (o.RequestsPerSecond == 0 || o.RequestsPerSecond == level.RequestsPerSecond) {
				return kind.Invalid("spec.objectives[%d] bounds a ratio of Throughput, but load %s imposes the same %d requests/s on every implementation: use of: ServerCPUPerRequest or LatencyPercentile, or name other levels", i, l.Name, level.RequestsPerSecond)
			}
		}
	}
	return nil
}
