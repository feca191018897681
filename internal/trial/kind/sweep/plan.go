package sweep

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Defaults of a load, filled in by Plan and stated in the plan's notes.
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
	if v := checkTools(spec); v != nil { // Tools are only asked about loads that are otherwise valid.
		return v
	}
	compare(p, spec)
	cells(p, spec.Loads)
	noteOrder(p)
	noteDuet(p)
	noteHandshakes(p, spec)
	noteProtocol(p, spec)
	noteClosedLoops(p, spec)
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

// maxConnectionsPerPod is what a pod's local ports allow to one server.
const maxConnectionsPerPod = 25_000

// checkPorts requires a port of every server, other than the agent's.
func checkPorts(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *kind.Violation {
		switch impl.Port {
		case 0:
			return kind.Invalid("spec.implementations[%d].port is not set: name the port on which %s listens for the requests of spec.loads", i, impl.Name)
		case protocol.Port:
			return kind.Invalid("spec.implementations[%d].port is %d, on which the agent beside each server listens: let %s listen on another one", i, impl.Port, impl.Name)
		}
		return nil
	})
}

func checkLevels(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		if len(l.Levels) == 0 {
			return kind.Invalid("spec.loads[%d].levels is empty: name at least one level", i)
		}
		return nil
	})
}

// checkDivision requires equal shares of a level for all generators, and enough ports.
func checkDivision(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		pods := sized(l).Generators.Pods
		for j, level := range l.Levels {
			if level.Connections%pods != 0 {
				return kind.Invalid("spec.loads[%d].levels[%d].connections is %d, which %d generator pods (spec.loads[%d].generators) cannot share equally: make it a multiple of %d", i, j, level.Connections, pods, i, pods)
			}
			if level.Connections/pods > maxConnectionsPerPod {
				return kind.Invalid("spec.loads[%d].levels[%d].connections is %d, %d for each generator pod, but a pod has local ports for %d to one server: raise spec.loads[%d].generators.pods", i, j, level.Connections, level.Connections/pods, maxConnectionsPerPod, i)
			}
		}
		return nil
	})
}
