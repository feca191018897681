package kind

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// dependencyPrefix begins the names of processes that are dependencies, so that none has that of another process.
const dependencyPrefix = "dep-"

// readDependencies are the dependencies of an object's spec.
func readDependencies(list []v1alpha1.Dependency) []record.Dependency {
	var out []record.Dependency
	for _, d := range list {
		own := record.Dependency{
			Name: d.Name, Image: d.Image, Command: slices.Clone(d.Command), Container: readContainer(d.ContainerSettings, d.Readiness), Port: d.Port,
		}
		if d.CPU != nil {
			own.MilliCPU = d.CPU.MilliValue()
		}
		if d.Memory != nil {
			own.MemoryBytes = d.Memory.Value()
		}
		out = append(out, own)
	}
	return out
}

// Dependencies are the processes beside a server that it depends on, in the order in which they start.
func Dependencies(own record.Implementation) []Process {
	var out []Process
	for _, d := range own.Dependencies {
		out = append(out, Process{
			Name: dependencyPrefix + d.Name, Image: d.Image, Command: d.Command, Container: d.Container, Port: d.Port,
			Dependency: d.Name, MilliCPU: d.MilliCPU, MemoryBytes: d.MemoryBytes,
		})
	}
	return out
}
