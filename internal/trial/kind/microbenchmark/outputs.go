package microbenchmark

import (
	"cmp"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func readPrograms(own v1alpha1.Microbenchmark) record.Programs {
	format := cmp.Or(own.Format, record.Auto)
	p := record.Programs{Format: format, LimitSeconds: own.LimitSeconds}
	for _, o := range own.Outputs {
		p.Outputs = append(p.Outputs, record.ProgramOutput{Implementation: o.Implementation, Format: cmp.Or(o.Format, format), Cases: o.Cases})
	}
	return p
}

// checkOutputs refuses impossible or ambiguous case names.
func checkOutputs(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	known := map[string]bool{}
	for _, impl := range spec.Implementations {
		known[impl.Name] = true
	}
	seen := map[string]bool{}
	for i, o := range spec.Microbenchmark.Outputs {
		switch {
		case !known[o.Implementation]:
			return kind.Invalid("spec.microbenchmark.outputs[%d].implementation is %s, which is not in spec.implementations: name one of them", i, o.Implementation)
		case seen[o.Implementation]:
			return kind.Invalid("spec.microbenchmark.outputs[%d].implementation is %s, as in an earlier entry: put both into one", i, o.Implementation)
		case o.Format == "" && len(o.Cases) == 0:
			return kind.Invalid("spec.microbenchmark.outputs[%d] says nothing of %s: give format or cases, or leave it out", i, o.Implementation)
		}
		seen[o.Implementation] = true
		if v := checkNames(i, o.Cases); v != nil {
			return v
		}
	}
	return nil
}

// checkNames refuses contradictory names of one implementation.
func checkNames(i int, names []v1alpha1.CaseName) *kind.Violation {
	printed, given := map[string]int{}, map[string]int{}
	for k, n := range names {
		printed[n.Printed] = k
	}
	for k, n := range names {
		stars, before := strings.Count(n.Printed, "*"), len(given)
		switch {
		case stars > 1 || strings.Count(n.Name, "*") > 1:
			return kind.Invalid("spec.microbenchmark.outputs[%d].cases[%d] has more than one *: leave one in printed and one in name", i, k)
		case stars != strings.Count(n.Name, "*"):
			return kind.Invalid("spec.microbenchmark.outputs[%d].cases[%d] has a * in one of printed and name: put it into both, for the text that they share, or into neither", i, k)
		case n.Printed == n.Name:
			return kind.Invalid("spec.microbenchmark.outputs[%d].cases[%d] gives %s the name that it has: leave the entry out", i, k, n.Printed)
		case printed[n.Printed] != k:
			return kind.Invalid("spec.microbenchmark.outputs[%d].cases[%d].printed is %s, as in cases[%d]: give each case one name", i, k, n.Printed, printed[n.Printed])
		}
		if other, ok := printed[n.Name]; ok {
			return kind.Invalid("spec.microbenchmark.outputs[%d].cases[%d].name is %s, which cases[%d] renames: names are replaced once: give the name that the case is to have in the end, and one that is not printed itself", i, k, n.Name, other)
		}
		if given[n.Name] = k; len(given) == before {
			return kind.Invalid("spec.microbenchmark.outputs[%d].cases[%d].name is %s, as in an earlier entry: two cases of one implementation cannot be one: give each a name of its own", i, k, n.Name)
		}
	}
	return nil
}
