package sweep

import (
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// checkObjectives holds what the schema cannot say of objectives: that they name what the run measures, and that their bounds can
// be kept at all.
func checkObjectives(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	for i, o := range spec.Objectives {
		for _, check := range []func(v1alpha1.BenchmarkRunSpec, v1alpha1.Objective, int) *kind.Violation{checkBound, checkSubjects, checkObjectiveLevels, checkLatency, checkAnswer} {
			if v := check(spec, o, i); v != nil {
				return v
			}
		}
	}
	return nil
}

func checkBound(_ v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	if (o.Min == "") == (o.Max == "") {
		return kind.Invalid("spec.objectives[%d] needs either min or max: give a range as two objectives", i)
	}
	bound, err := strconv.ParseFloat(o.Min+o.Max, 64)
	switch {
	case err != nil:
		return kind.Invalid("spec.objectives[%d]: %q is not a decimal number", i, o.Min+o.Max)
	case bound <= 0:
		return kind.Invalid("spec.objectives[%d] has the bound 0, which no measurement can prove as a maximum and every measurement meets as a minimum: give a number above 0, such as \"0.0001\"", i)
	case o.Metric == v1alpha1.ObjectiveErrorRate && bound > 1:
		return kind.Invalid("spec.objectives[%d]: an ErrorRate is a share from 0 to 1, and its bound is %s: write 1 %% as \"0.01\"", i, o.Min+o.Max)
	}
	return nil
}

// checkSubjects checks the names of implementations.
func checkSubjects(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	role := map[string]v1alpha1.Role{}
	for _, impl := range spec.Implementations {
		role[impl.Name] = v1alpha1.RoleContender
		if impl.Role != "" {
			role[impl.Name] = impl.Role
		}
	}
	for k, name := range o.Implementations {
		switch {
		case role[name] == "":
			return kind.Invalid("spec.objectives[%d].implementations[%d] is %s, which is not in spec.implementations: name one of them", i, k, name)
		case o.Metric == v1alpha1.ObjectiveRatioToBaseline && (name == spec.Baseline || role[name] == v1alpha1.RoleReference):
			return kind.Invalid("spec.objectives[%d].implementations[%d] is %s, which is not compared with the baseline: name a contender other than %s", i, k, name, spec.Baseline)
		}
	}
	if o.Metric == v1alpha1.ObjectiveRatioToBaseline && len(spec.Implementations) < 2 {
		return kind.Invalid("spec.objectives[%d] is a RatioToBaseline, but the run has only one implementation: add another, or bound another metric", i)
	}
	if o.Metric != v1alpha1.ObjectiveRegression {
		return nil
	}
	switch {
	case o.Against.IsZero():
		return kind.Invalid("spec.objectives[%d].against is not set: a Regression needs earlier runs", i)
	case role[o.Against.Anchor] == "":
		return kind.Invalid("spec.objectives[%d].against.anchor is %s, which is not in spec.implementations: every run must measure the anchor", i, o.Against.Anchor)
	case slices.Contains(o.Implementations, o.Against.Anchor):
		return kind.Invalid("spec.objectives[%d].implementations holds %s, which is the anchor: its ratio to itself is always 1", i, o.Against.Anchor)
	}
	return nil
}

// checkObjectiveLevels checks that there is a level of which the objective speaks. The steps of a search are none.
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

// speaksOf says whether an objective bounds a figure of any level of a load.
func speaksOf(o v1alpha1.Objective, l v1alpha1.Load) bool {
	return (o.Load == "" || o.Load == l.Name) && l.Search.IsZero() && slices.ContainsFunc(l.Levels, func(level v1alpha1.Level) bool {
		return (o.Connections == 0 || o.Connections == level.Connections) && (o.RequestsPerSecond == 0 || o.RequestsPerSecond == level.RequestsPerSecond)
	})
}

// checkLatency checks that what the run measures with has the latency that an objective bounds.
func checkLatency(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	if o.Percentile == "" && o.Metric != v1alpha1.ObjectiveMeanLatency {
		return nil
	}
	if isDuet(spec) {
		return kind.Invalid("spec.objectives[%d] bounds a latency, but spec.order SlicedDuet has none, because pausing the generator distorts them: bound ServerCPUPerRequest, or choose spec.order Blocks", i)
	}
	if !strings.Contains(o.Percentile, ".") {
		return nil
	}
	for k, l := range spec.Loads {
		if tools.Traits(record.Tool(l.Tool)).WholePercents && speaksOf(o, l) {
			return kind.Invalid("spec.objectives[%d].percentile is %s, and %s, the tool of spec.loads[%d], reports whole percentiles only: choose 99, choose wrk or k6, or name another load in spec.objectives[%d].load", i, o.Percentile, l.Tool, k, i)
		}
	}
	return nil
}

// checkCapacity checks that an objective of a capacity names a load that searches for one, and the least that it has to find.
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
