package sweep

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// RefuseDependencies implements kind.Kind: they get CPUs of their own, and so may not run beside servers that own none.
func (Kind) RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *kind.Violation {
	if spec.Order == v1alpha1.OrderSlicedDuet {
		return kind.Invalid("spec.implementations[%d].dependencies cannot run beside a duet, whose servers own no CPU: choose spec.order Blocks", implementation)
	}
	return nil
}

// Needs implements kind.Kind: the load generators.
func (Kind) Needs(p record.Plan) []kind.Need {
	all := tools.All("")
	var needs []kind.Need
	for _, c := range p.Cells {
		if t, known := all[c.Tool]; known { // The schema of the API knows no other.
			needs = append(needs, kind.Need{
				Field: "loads[" + c.Load + "].tool", Program: t.VersionArgs()[0], Install: t.Install(), Otherwise: "choose another tool",
			})
		}
	}
	return needs
}
