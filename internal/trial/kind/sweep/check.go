package sweep

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// maxConnectionsPerPod is what a pod's range of local ports allows towards one server.
const maxConnectionsPerPod = 25_000

// checkPorts wants a port of every server, since loads go to one, and not that of the agent beside it.
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

// checkDivision wants every generator to have the same share of a level, and ports enough for it.
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
