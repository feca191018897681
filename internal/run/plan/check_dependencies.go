package plan

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Defaults of a dependency.
const (
	defaultDependencyMilliCPU = 1000
	defaultDependencySeconds  = 60
)

// checkDependencies looks at the containers that implementations need beside them, in all kinds of work that the spec asks for.
func checkDependencies(spec v1alpha1.BenchmarkRunSpec, works []kind.Kind) *Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *Violation {
		if len(impl.Dependencies) == 0 {
			return nil
		}
		for _, k := range works {
			if v := k.RefuseDependencies(spec, i); v != nil {
				return v
			}
		}
		ports := map[int32]string{protocol.Port: "Loadstone's agent", impl.Port: impl.Name}
		for n, d := range impl.Dependencies {
			if v := checkDependency(fmt.Sprintf("spec.implementations[%d].dependencies[%d]", i, n), d, ports); v != nil {
				return v
			}
		}
		return nil
	})
}

// checkDependency looks at one dependency. All containers of a pod share their ports, of which those that are taken are given.
func checkDependency(field string, d v1alpha1.Dependency, taken map[int32]string) *Violation {
	switch {
	case IsPath(d.Image):
		return kind.Invalid("%s.image is %s, a file of one machine: name the image as a cluster pulls it", field, d.Image)
	case d.Port != 0 && taken[d.Port] != "":
		return kind.Invalid("%s.port is %d, on which %s listens, and both share the ports of one pod: let %s listen on another one", field, d.Port, taken[d.Port], d.Name)
	case d.Readiness != (v1alpha1.Readiness{}) && d.Port == 0:
		return kind.Invalid("%s.readiness is asked of its port, and %s has none: name its port, or remove readiness", field, d.Name)
	case d.CPU != nil && d.CPU.MilliValue() < leastMilliCPU:
		return kind.Invalid("%s.cpu is %s, too little for any container: give at least %dm", field, d.CPU, leastMilliCPU)
	case d.Memory != nil && d.Memory.Value() < leastMemory:
		return kind.Invalid("%s.memory is %s, too little for any container: give at least 4Mi", field, d.Memory)
	}
	if v := kind.CheckPath(field+".readiness.path", d.Readiness.Path); v != nil {
		return v
	}
	if d.Port != 0 {
		taken[d.Port] = d.Name
	}
	return checkOwn(field, d.ContainerSettings)
}
