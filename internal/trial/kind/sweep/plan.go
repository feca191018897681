package sweep

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Defaults of a load, filled in by Plan and echoed in the plan's notes.
const (
	DefaultGeneratorPods   = 1
	DefaultGeneratorCPUs   = 1
	DefaultWarmupSeconds   = 2
	DefaultDurationSeconds = 5
	DefaultStatus          = 200
	DefaultContentType     = "text/plain"
	DefaultSearchSteps     = 12
	DefaultSearchStart     = 100
)

// Asks implements kind.Kind.
func (Kind) Asks() kind.Ask { return kind.Ask{Field: "spec.loads", Way: "name at least one load"} }

// Asked implements kind.Kind: loads are swept.
func (Kind) Asked(spec v1alpha1.BenchmarkRunSpec) bool { return len(spec.Loads) > 0 }

// Plan implements kind.Kind.
func (Kind) Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *kind.Violation {
	if v := kind.Join(
		checkLevels(spec), checkRequests(spec), checkDivision(spec), checkWeights(spec), checkPercentiles(spec), checkObjectives(spec), checkDuet(spec), checkPorts(spec), checkProtocol(spec),
	); v != nil {
		return v
	}
	if v := checkTools(spec); v != nil { // A tool is asked for loads that are right otherwise.
		return v
	}
	compare(p, spec)
	cells(p, spec.Loads)
	noteDuet(p)
	noteHandshakes(p, spec)
	noteProtocol(p, spec)
	return nil
}

// Unowned implements kind.Placed.
func (Kind) Unowned(pl v1alpha1.Placement, order record.Order) string {
	switch {
	case order == record.OrderSlicedDuet:
		return "a cell whose servers do not share one CPU is void"
	case pl.GeneratorPinning == v1alpha1.Preferred:
		return "a cell whose server does not own its CPUs is void"
	}
	return "a cell whose server or generator does not own its CPUs is void"
}
