package microbenchmark

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Asks implements kind.Kind.
func (Kind) Asks() kind.Ask {
	return kind.Ask{Field: "spec.microbenchmark", Way: "give spec.microbenchmark to compare programs that measure themselves"}
}

// Asked implements kind.Kind.
func (Kind) Asked(spec v1alpha1.BenchmarkRunSpec) bool { return !spec.Microbenchmark.IsZero() }

// Plan implements kind.Kind.
func (Kind) Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *kind.Violation {
	if v := kind.Join(checkImplementations(spec), checkUseless(spec), checkOutputs(spec), checkObjectives(spec)); v != nil {
		return v
	}
	own := spec.Microbenchmark
	programs := readPrograms(own)
	programs.LimitSeconds = cmp.Or(own.LimitSeconds, DefaultLimitSeconds)
	p.Programs = &programs
	kind.PlanObjectives(spec, p)
	if own.LimitSeconds == 0 {
		p.Note("spec.microbenchmark.limitSeconds defaults to %d", p.Programs.LimitSeconds)
	}
	return nil
}

// checkImplementations requires a command, since the agent that starts a program does not know its image's
// entrypoint.
func checkImplementations(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *kind.Violation {
		switch {
		case len(impl.Command) == 0:
			return kind.Invalid("spec.implementations[%d].command is not set: name the program of %s and its arguments, since spec.microbenchmark starts it in the image without the image's entrypoint", i, impl.Name)
		case impl.Memory != nil && impl.Memory.Value() < leastMemory:
			return kind.Invalid("spec.implementations[%d].memory is %s, and the agent that starts %s needs some of it: give at least 32Mi", i, impl.Memory, impl.Name)
		case impl.Port != 0:
			return kind.Invalid("spec.implementations[%d].port is %d, but nobody sends requests to a program of spec.microbenchmark: leave it out, or give spec.loads instead", i, impl.Port)
		}
		if k := slices.IndexFunc(impl.Claims, func(c v1alpha1.Claim) bool { return c.Subject == v1alpha1.ClaimResponse }); k >= 0 {
			return kind.Invalid("spec.implementations[%d].claims[%d].subject is Response, but nobody sends requests to a program of spec.microbenchmark: leave the claim out, or give spec.loads instead", i, k)
		}
		return nil
	})
}

func checkUseless(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"order", spec.Order == v1alpha1.OrderSlicedDuet},
		{"latencyPercentiles", len(spec.LatencyPercentiles) > 0},
		{"stop", !spec.Stop.IsZero()},
		{"validity.maxErrorRate", spec.Validity.MaxErrorRate != ""},
		{"placement.generatorPinning", spec.Placement.GeneratorPinning != ""},
		{"placement.separateNodes", spec.Placement.SeparateNodes != ""},
	} {
		if field.set {
			return kind.Invalid("spec.%s applies to loads, and spec.microbenchmark has none: leave it out", field.name)
		}
	}
	return nil
}

// Work implements kind.Kind. It keeps only its program's outputs.
func (Kind) Work(p record.Plan, line record.PlannedTrial) kind.Work {
	m := Microbenchmark{Program: p.Implementation(line.Servers[0]), Programs: *p.Programs}
	m.Outputs = nil
	for _, o := range p.Programs.Outputs {
		if o.Implementation == m.Program.Name {
			m.Outputs = append(m.Outputs, o)
		}
	}
	return m
}

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
