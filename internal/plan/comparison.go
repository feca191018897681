package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// weightSlack is how far weights may miss 1: three of a third are written as 0.333.
const weightSlack = 0.002

// Loosest limits of validity, as shares: a spec can tighten them, and never loosen them.
const (
	// MaxErrorRate: one failed request in a thousand is what services commonly promise at most.
	MaxErrorRate = 0.001
	// MaxNeighbourCPU: above 15 % of its CPU time in other processes, a server is measured together with its neighbours.
	MaxNeighbourCPU = 0.15
	// MaxSteal: beyond 5 % of its CPUs that the hypervisor takes, a server is measured with those of other machines.
	MaxSteal = 0.05
)

// interimBlocks are the blocks after which a run that may end early is looked at, unless they are its last.
var interimBlocks = []int32{10, 20, 30}

// DefaultLatencyPercentiles are compared where the spec names none.
var DefaultLatencyPercentiles = []string{"50", "99"}

// validityOf are the limits of a spec that was checked.
func validityOf(v v1alpha1.Validity) record.Validity {
	return record.Validity{
		MaxErrorRate: shareOr(v.MaxErrorRate, MaxErrorRate), MaxNeighbourCPU: shareOr(v.MaxNeighbourCPU, MaxNeighbourCPU), MaxSteal: shareOr(v.MaxSteal, MaxSteal),
	}
}

// shareOr reads a decimal of a spec that was checked, which may be absent.
func shareOr(text string, absent float64) float64 {
	if share, err := strconv.ParseFloat(text, 64); err == nil {
		return share
	}
	return absent
}

// comparison fills in what is compared, what has to be met, and when the run may end.
func (p *Plan) comparison(spec v1alpha1.BenchmarkRunSpec) {
	p.LatencyPercentiles = latencyPercentiles(spec)
	for _, o := range spec.Objectives {
		p.Objectives = append(p.Objectives, objectiveOf(o))
	}
	if spec.Stop.IsZero() {
		return
	}
	p.MaxWidth = spec.Stop.MaxWidth
	p.Interim = InterimBlocks(p.Blocks)
}

// InterimBlocks are the blocks after which a run of a number of blocks is looked at, if it may end early.
func InterimBlocks(blocks int32) []int32 {
	return slices.DeleteFunc(slices.Clone(interimBlocks), func(block int32) bool { return block >= blocks })
}

// latencyPercentiles are those that a run compares: those of its spec, and those that objectives bound ratios of.
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

func objectiveOf(o v1alpha1.Objective) record.Objective {
	out := record.Objective{
		Name: o.Name, Metric: record.ObjectiveMetric(o.Metric), Load: o.Load, Connections: o.Connections, RequestsPerSecond: o.RequestsPerSecond,
		Implementations: slices.Clone(o.Implementations), Percentile: o.Percentile, Of: record.ComparedMetric(o.Of), Min: o.Min, Max: o.Max,
	}
	if !o.Against.IsZero() {
		out.Against = &record.Reference{Runs: slices.Clone(o.Against.Runs), Anchor: o.Against.Anchor}
	}
	return out
}

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
		case !l.Search.IsZero():
			return invalid("spec.loads[%d].weight does not apply to a load with search, whose rates are compared separately: leave it out", i)
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
			return invalid("spec.loads[%d].weight is not set, but other loads have one: give every load without search a weight, or none", i)
		}
	}
	switch {
	case given > 0 && loads == 1:
		return invalid("spec.loads has only one load with levels, so its weight has no effect: leave weight out")
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
	if isDuet(spec) {
		return invalid("spec.latencyPercentiles compares latencies, but spec.order SlicedDuet has none, because pausing the generator distorts them: leave it out, or choose spec.order Blocks")
	}
	for k, percentile := range spec.LatencyPercentiles {
		if !slices.Contains(record.Percentiles, percentile) {
			return invalid("spec.latencyPercentiles[%d] is %s: choose from %s", k, percentile, strings.Join(record.Percentiles, ", "))
		}
		for i, l := range spec.Loads {
			if strings.Contains(percentile, ".") && tools.Traits(record.Tool(l.Tool)).WholePercents {
				return invalid("spec.latencyPercentiles[%d] is %s, and %s, the tool of spec.loads[%d], reports whole percentiles only: choose 99, or choose wrk or k6", k, percentile, l.Tool, i)
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
			if l.Search.IsZero() && level.RequestsPerSecond > 0 && (o.Load == "" || o.Load == l.Name) &&
				(o.Connections == 0 || o.Connections == level.Connections) && (o.RequestsPerSecond == 0 || o.RequestsPerSecond == level.RequestsPerSecond) {
				return invalid("spec.objectives[%d] bounds a ratio of Throughput, but load %s imposes the same %d requests/s on every implementation: use of: ServerCPUPerRequest or LatencyPercentile, or name other levels", i, l.Name, level.RequestsPerSecond)
			}
		}
	}
	return nil
}
