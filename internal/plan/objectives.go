package plan

import (
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// checkObjectives holds what the schema cannot say of objectives: that they speak of what the run measures, and that their bounds can
// be kept at all.
func checkObjectives(spec v1alpha1.BenchmarkRunSpec) *Violation {
	for i, o := range spec.Objectives {
		for _, check := range []func(v1alpha1.BenchmarkRunSpec, v1alpha1.Objective, int) *Violation{checkBound, checkSubjects, checkObjectiveLevels, checkAnswer} {
			if v := check(spec, o, i); v != nil {
				return v
			}
		}
	}
	return nil
}

func checkBound(_ v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
	if (o.Min == "") == (o.Max == "") {
		return invalid("spec.objectives[%d] needs either min or max: give a range as two objectives", i)
	}
	bound, err := strconv.ParseFloat(o.Min+o.Max, 64)
	switch {
	case err != nil:
		return invalid("spec.objectives[%d]: %q is no decimal number", i, o.Min+o.Max)
	case bound <= 0:
		return invalid("spec.objectives[%d] has the bound 0: no measurement can prove that something is never exceeded, and everything is at least 0: give a number above 0, such as \"0.0001\"", i)
	case o.Metric == v1alpha1.ObjectiveErrorRate && bound > 1:
		return invalid("spec.objectives[%d]: an ErrorRate is a share from 0 to 1, and its bound is %s: write 1 %% as \"0.01\"", i, o.Min+o.Max)
	}
	return nil
}

// checkSubjects checks the names of implementations.
func checkSubjects(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
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
			return invalid("spec.objectives[%d].implementations[%d] is %s, which is none of spec.implementations: name one of them", i, k, name)
		case o.Metric == v1alpha1.ObjectiveRatioToBaseline && (name == spec.Baseline || role[name] == v1alpha1.RoleLimit):
			return invalid("spec.objectives[%d].implementations[%d] is %s, which is not compared with the baseline: name a contender other than %s", i, k, name, spec.Baseline)
		}
	}
	if o.Metric == v1alpha1.ObjectiveRatioToBaseline && len(spec.Implementations) < 2 {
		return invalid("spec.objectives[%d] is a RatioToBaseline, and the run has one implementation only: add another, or bound another metric", i)
	}
	if o.Metric != v1alpha1.ObjectiveRegression {
		return nil
	}
	switch {
	case o.Against == nil:
		return invalid("spec.objectives[%d].against is absent: a Regression needs earlier runs", i)
	case role[o.Against.Anchor] == "":
		return invalid("spec.objectives[%d].against.anchor is %s, which is none of spec.implementations: the anchor is measured in all runs", i, o.Against.Anchor)
	case slices.Contains(o.Implementations, o.Against.Anchor):
		return invalid("spec.objectives[%d].implementations holds %s, which is the anchor: its ratio to itself is always 1", i, o.Against.Anchor)
	}
	return nil
}

// checkObjectiveLevels checks that there is a level of which the objective speaks. The steps of a search are none.
func checkObjectiveLevels(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
	if o.Metric == v1alpha1.ObjectiveCapacity {
		return checkCapacity(spec, o, i)
	}
	named := false
	for _, l := range spec.Loads {
		if o.Load != "" && o.Load != l.Name {
			continue
		}
		named = true
		if l.Search != nil {
			continue
		}
		for _, level := range l.Levels {
			if (o.Connections == 0 || o.Connections == level.Connections) && (o.RequestsPerSecond == 0 || o.RequestsPerSecond == level.RequestsPerSecond) {
				return nil
			}
		}
	}
	if !named {
		return invalid("spec.objectives[%d].load is %s, which is none of spec.loads: name one of them", i, o.Load)
	}
	return invalid("spec.objectives[%d] speaks of no level of spec.loads: correct load, connections and requestsPerSecond; the steps of a search are no levels", i)
}

// checkCapacity checks that an objective of a capacity names a load that searches for one, and the least that it has to find.
func checkCapacity(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
	switch {
	case o.Min == "":
		return invalid("spec.objectives[%d] is a Capacity, which is bounded from below: give min", i)
	case o.Connections != 0 || o.RequestsPerSecond != 0:
		return invalid("spec.objectives[%d] is a Capacity, of which a load has one only: leave out connections and requestsPerSecond", i)
	}
	for _, l := range spec.Loads {
		if l.Name == o.Load && l.Search != nil {
			return nil
		}
	}
	return invalid("spec.objectives[%d] is a Capacity, and load %q is no load with search: name one of those of spec.loads", i, o.Load)
}
