package microbenchmark

import (
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// checkObjectives holds what the schema cannot say of objectives of cases.
func checkObjectives(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Objectives, func(i int, o v1alpha1.Objective) *kind.Violation {
		for _, check := range []func(v1alpha1.BenchmarkRunSpec, v1alpha1.Objective, int) *kind.Violation{checkOfCase, kind.CheckBound, kind.CheckSubjects} {
			if v := check(spec, o, i); v != nil {
				return v
			}
		}
		return nil
	})
}

func checkOfCase(_ v1alpha1.BenchmarkRunSpec, o v1alpha1.Objective, i int) *kind.Violation {
	switch {
	case kind.ObjectiveOf(o).CaseMetric() == "":
		return kind.Invalid("spec.objectives[%d] bounds a metric of loads, and spec.microbenchmark has none: choose CaseTime, CaseBytes or CaseAllocations, as metric or in of", i)
	case o.Load != "" || o.Connections != 0 || o.RequestsPerSecond != 0:
		return kind.Invalid("spec.objectives[%d] selects levels of a load, and spec.microbenchmark has none: name a case", i)
	case strings.Count(o.Case, "*") > 1:
		return kind.Invalid("spec.objectives[%d].case is %s, with more than one *: leave one", i, o.Case)
	}
	return nil
}
