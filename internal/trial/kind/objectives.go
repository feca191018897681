package kind

import (
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// CheckBound checks that the bound of an objective can be met at all.
func CheckBound(_ v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
	if (o.Min == "") == (o.Max == "") {
		return Invalid("spec.objectives[%d] needs either min or max: give a range as two objectives", i)
	}
	bound, err := strconv.ParseFloat(o.Min+o.Max, 64)
	switch {
	case err != nil:
		return Invalid("spec.objectives[%d]: %q is not a decimal number", i, o.Min+o.Max)
	case bound <= 0:
		return Invalid("spec.objectives[%d] has the bound 0, which no measurement can prove as a maximum and every measurement meets as a minimum: give a number above 0, such as \"0.0001\"", i)
	case o.Metric == v1alpha1.ObjectiveErrorRate && bound > 1:
		return Invalid("spec.objectives[%d]: an ErrorRate is a share from 0 to 1, and its bound is %s: write 1 %% as \"0.01\"", i, o.Min+o.Max)
	}
	return nil
}

// CheckSubjects checks the names of implementations in an objective.
func CheckSubjects(spec v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *Violation {
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
			return Invalid("spec.objectives[%d].implementations[%d] is %s, which is not in spec.implementations: name one of them", i, k, name)
		case o.Metric == v1alpha1.ObjectiveRatioToBaseline && (name == spec.Baseline || role[name] == v1alpha1.RoleReference):
			return Invalid("spec.objectives[%d].implementations[%d] is %s, which is not compared with the baseline: name a contender other than %s", i, k, name, spec.Baseline)
		}
	}
	if o.Metric == v1alpha1.ObjectiveRatioToBaseline && len(spec.Implementations) < 2 {
		return Invalid("spec.objectives[%d] is a RatioToBaseline, but the run has only one implementation: add another, or bound another metric", i)
	}
	if o.Metric != v1alpha1.ObjectiveRegression {
		return nil
	}
	switch {
	case o.Against.IsZero():
		return Invalid("spec.objectives[%d].against is not set: a Regression needs earlier runs", i)
	case (len(o.Against.Runs) > 0) == (o.Against.LastGood > 0):
		return Invalid("spec.objectives[%d].against needs either runs or lastGood: name earlier runs, or say with how many of its last good rounds a suite compares", i)
	case role[o.Against.Anchor] == "":
		return Invalid("spec.objectives[%d].against.anchor is %s, which is not in spec.implementations: every run must measure the anchor", i, o.Against.Anchor)
	case slices.Contains(o.Implementations, o.Against.Anchor):
		return Invalid("spec.objectives[%d].implementations holds %s, which is the anchor: its ratio to itself is always 1", i, o.Against.Anchor)
	}
	return nil
}

// PlanObjectives fills in the objectives. It leaves out those on last good rounds of a suite that has too few yet:
// they have a number of rounds instead of runs.
func PlanObjectives(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) {
	for i, o := range spec.Objectives {
		if o.Against.LastGood > 0 {
			p.Note("spec.objectives[%d] is left out: fewer than three earlier rounds of the suite were good when this one began, too few to compare with", i)
			continue
		}
		if n := len(o.Against.Runs); n > 0 && n < record.LeastEarlierRuns {
			p.Note("spec.objectives[%d].against.runs has %d entries: fewer than %d decide nothing, because the variation between runs is unknown", i, n, record.LeastEarlierRuns)
		}
		p.Objectives = append(p.Objectives, ObjectiveOf(o))
	}
}

// ObjectiveOf returns a spec's objective as recorded in a plan.
func ObjectiveOf(o v1alpha1.Objective) record.Objective {
	out := record.Objective{
		Name: o.Name, Metric: o.Metric, Load: o.Load, Case: o.Case, Connections: o.Connections, RequestsPerSecond: o.RequestsPerSecond,
		Implementations: slices.Clone(o.Implementations), Percentile: o.Percentile, Of: o.Of, Grade: o.Grade, Min: o.Min, Max: o.Max,
	}
	if !o.Against.IsZero() {
		out.Against = &record.Reference{Runs: slices.Clone(o.Against.Runs), Anchor: o.Against.Anchor}
	}
	return out
}
