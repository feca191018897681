package kind

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// WriteImplementation is an implementation of a plan as an object's spec has it.
func WriteImplementation(i record.Implementation) v1alpha1.Implementation {
	out := v1alpha1.Implementation{
		Name: i.Name, Image: i.Image, Command: slices.Clone(i.Command), Port: i.Port, CPUs: i.CPUs,
		Memory: resource.NewQuantity(i.MemoryBytes, resource.BinarySI), Role: v1alpha1.Role(i.Role), Build: buildSpec(i.Build), Claims: claimsSpec(i.Claims),
	}
	writeContainer(i.Container, &out.ContainerSettings, &out.Readiness)
	out.StopSignal, out.Dependencies, out.TLS = v1alpha1.StopSignal(i.StopSignal), writeDependencies(i.Dependencies), writeTLS(i.TLS)
	return out
}

// ReadImplementation is an implementation as an object's spec has it, with nothing filled in.
func ReadImplementation(i v1alpha1.Implementation) record.Implementation {
	return record.Implementation{
		Name: i.Name, Image: i.Image, Command: slices.Clone(i.Command), Port: i.Port, CPUs: i.CPUs, MemoryBytes: memoryOf(i), Role: record.Role(i.Role),
		Build: Expectations(i.Build), Claims: Claims(i.Claims), Container: Container(i), StopSignal: string(i.StopSignal), Dependencies: ReadDependencies(i.Dependencies),
		TLS: ReadTLS(i.TLS),
	}
}

func memoryOf(i v1alpha1.Implementation) int64 {
	if i.Memory == nil {
		return 0
	}
	return i.Memory.Value()
}

// ReadServers are the implementations of a trial.
func ReadServers(spec v1alpha1.TrialSpec) []record.Implementation {
	var servers []record.Implementation
	for _, i := range spec.Servers {
		servers = append(servers, ReadImplementation(i))
	}
	return servers
}

// ReadPlacement is the placement of a trial.
func ReadPlacement(p v1alpha1.Placement) record.Placement {
	return record.Placement{
		Pinning: record.Strictness(p.Pinning), GeneratorPinning: record.Strictness(p.GeneratorPinning), SeparateNodes: record.Strictness(p.SeparateNodes),
	}
}
