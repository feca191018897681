package sweep

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/record"
)

// Defaults of a load, filled in by Plan and echoed in the plan's notes.
const (
	DefaultGeneratorPods   = 1
	DefaultGeneratorCPUs   = 1
	DefaultWarmupSeconds   = 2
	DefaultDurationSeconds = 5
	DefaultStatus          = 200
	DefaultSearchSteps     = 12
	DefaultSearchStart     = 100
)

// Asked implements kind.Kind: loads are swept.
func (Kind) Asked(spec v1alpha1.BenchmarkRunSpec) bool { return len(spec.Loads) > 0 }

// Plan implements kind.Kind.
func (Kind) Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *kind.Violation {
	for _, check := range []func(v1alpha1.BenchmarkRunSpec) *kind.Violation{
		checkLevels, checkDivision, checkRates, checkWeights, checkPercentiles, checkObjectives, checkDuet, checkPorts,
	} {
		if v := check(spec); v != nil {
			return v
		}
	}
	compare(p, spec)
	cells(p, spec.Loads)
	noteDuet(p)
	return nil
}
