package sweep

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// checkObjectives checks what the schema cannot express: objectives must name measured values and have possible
// bounds.
func checkObjectives(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Objectives, func(i int, o v1alpha1.Objective) *kind.Violation {
		for _, check := range []func(v1alpha1.BenchmarkRunSpec, v1alpha1.Objective, int) *kind.Violation{checkNoCase, kind.CheckBound, kind.CheckSubjects, checkObjectiveLevels, checkLatency, checkAnswer} {
			if v := check(spec, o, i); v != nil {
				return v
			}
		}
		return nil
	})
}

func checkNoCase(_ v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	if kind.ObjectiveOf(o).CaseMetric() == "" && o.Case == "" {
		return nil
	}
	return kind.Invalid("spec.objectives[%d] bounds a case, and loads have none: bound a metric of loads, or give spec.microbenchmark instead of spec.loads", i)
}

// checkObjectiveLevels requires a level for the objective; steps of a search are none.
func checkObjectiveLevels(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	if o.Metric == v1alpha1.ObjectiveCapacity {
		return checkCapacity(spec, o, i)
	}
	if slices.ContainsFunc(spec.Loads, func(l v1alpha1.Load) bool { return speaksOf(o, l) }) {
		return nil
	}
	named := slices.IndexFunc(spec.Loads, func(l v1alpha1.Load) bool { return o.Load == l.Name })
	switch {
	case o.Load != "" && named < 0:
		return kind.Invalid("spec.objectives[%d].load is %s, which is not in spec.loads: name one of them", i, o.Load)
	case named >= 0 && !spec.Loads[named].Search.IsZero():
		return kind.Invalid("spec.objectives[%d].load is %s, which has search and therefore no levels: bound its Capacity, or name another load", i, o.Load)
	}
	return kind.Invalid("spec.objectives[%d] matches no level of spec.loads: correct load, connections and requestsPerSecond; the steps of a search are not levels", i)
}

func speaksOf(o v1alpha1.Objective, l v1alpha1.Load) bool {
	return (o.Load == "" || o.Load == l.Name) && l.Search.IsZero() && slices.ContainsFunc(l.Levels, func(level v1alpha1.Level) bool {
		return (o.Connections == 0 || o.Connections == level.Connections) && (o.RequestsPerSecond == 0 || o.RequestsPerSecond == level.RequestsPerSecond)
	})
}

// checkLatency checks that the run has the objective's latency.
func checkLatency(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	if o.Percentile == "" && o.Metric != v1alpha1.ObjectiveMeanLatency {
		return nil
	}
	if isDuet(spec) {
		return kind.Invalid("spec.objectives[%d] bounds a latency, but spec.order SlicedDuet has none, because pausing the generator distorts them: bound ServerCPUPerRequest, or choose spec.order Blocks", i)
	}
	return nil
}

// checkCapacity requires a load with a search and a minimum.
func checkCapacity(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	switch {
	case o.Min == "":
		return kind.Invalid("spec.objectives[%d] is a Capacity, which takes a lower bound: give min", i)
	case o.Connections != 0 || o.RequestsPerSecond != 0:
		return kind.Invalid("spec.objectives[%d] is a Capacity, and a load has only one: leave out connections and requestsPerSecond", i)
	}
	for _, l := range spec.Loads {
		if l.Name == o.Load && !l.Search.IsZero() {
			return nil
		}
	}
	return kind.Invalid("spec.objectives[%d] is a Capacity, but load %q has no search: name a load of spec.loads that has one", i, o.Load)
}

// noteClosedLoops names the objectives on percentiles that no run can meet.
func noteClosedLoops(p *record.Plan, spec v1alpha1.BenchmarkRunSpec) {
	for i, o := range spec.Objectives {
		for _, l := range spec.Loads {
			closed := slices.DeleteFunc(slices.Clone(l.Levels), func(level v1alpha1.Level) bool { return level.RequestsPerSecond > 0 })
			if l.Levels = closed; o.Percentile != "" && speaksOf(o, l) {
				p.Note("objectives[%d] bounds a percentile of load %s, a closed loop: it can be missed, but not met. Add a load of k6 or vegeta with requestsPerSecond, and name it in the load of the objective", i, l.Name)
			}
		}
	}
}
