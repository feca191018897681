package kind

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// ReadImplementation is an implementation as an object's spec has it, with nothing filled in.
func ReadImplementation(i v1alpha1.Implementation) record.Implementation {
	return record.Implementation{
		Name: i.Name, Image: i.Image, Command: slices.Clone(i.Command), Port: i.Port, CPUs: i.CPUs, MemoryBytes: memoryOf(i), Role: i.Role,
		Build: i.Build, Claims: Claims(i.Claims), Container: readContainer(i.ContainerSettings, i.Readiness), StopSignal: string(i.StopSignal),
		Dependencies: readDependencies(i.Dependencies), TLS: readTLS(i.TLS),
	}
}

func memoryOf(i v1alpha1.Implementation) int64 {
	if i.Memory == nil {
		return 0
	}
	return i.Memory.Value()
}

// Servers are the implementations that a line of a plan measures.
func Servers(p record.Plan, line record.PlannedTrial) []record.Implementation {
	servers := make([]record.Implementation, len(line.Servers))
	for i, name := range line.Servers {
		servers[i] = p.Implementation(name)
	}
	return servers
}

// ReadPlacement is a placement as an object's spec has it, with nothing filled in.
func ReadPlacement(p v1alpha1.Placement) record.Placement {
	return record.Placement{Pinning: p.Pinning, GeneratorPinning: p.GeneratorPinning, SeparateNodes: p.SeparateNodes}
}
