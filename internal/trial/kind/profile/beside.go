package profile

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// RefuseDependencies implements kind.Kind: a profile starts its server several times in one trial.
func (Kind) RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *kind.Violation {
	name := spec.Implementations[implementation].Name
	for i, own := range spec.Profiles {
		if profiled(own, name) {
			return kind.Invalid("spec.profiles[%d] would start %s several times beside one and the same database or the like (spec.implementations[%d].dependencies): name others in spec.profiles[%d].implementations", i, name, implementation, i)
		}
	}
	return nil
}

// Needs implements kind.Kind: the profilers.
func (Kind) Needs(p record.Plan) []kind.Need {
	var needs []kind.Need
	for _, own := range p.Profiles {
		if name := own.Tool.Program(); name != "" {
			needs = append(needs, kind.Need{
				Field: "profiles[" + own.Name + "].tool", Program: name, Install: "apt-get install " + name, Otherwise: "remove the profile",
			})
		}
	}
	return needs
}
