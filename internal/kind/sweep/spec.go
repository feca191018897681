package sweep

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Write is a trial of a plan as the spec of an object, held until its step of the workflow comes.
func Write(run string, p record.Plan, t record.PlannedTrial) v1alpha1.TrialSpec {
	spec := v1alpha1.TrialSpec{
		RunName: run, Index: &t.Index, Block: t.Block, Type: v1alpha1.TypeSweep, Start: v1alpha1.StartHeld,
		Sweep: v1alpha1.Sweep{Generators: v1alpha1.Generators{Pods: p.Generators.Pods, CPUs: p.Generators.CPUs}},
		Placement: v1alpha1.Placement{
			Pinning: v1alpha1.Strictness(p.Placement.Pinning), GeneratorPinning: v1alpha1.Strictness(p.Placement.GeneratorPinning),
			SeparateNodes: v1alpha1.Strictness(p.Placement.SeparateNodes),
		},
	}
	for _, name := range t.Servers {
		i := slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return i.Name == name })
		spec.Sweep.Servers = append(spec.Sweep.Servers, implementationSpec(p.Implementations[i]))
	}
	for _, c := range p.Cells {
		spec.Sweep.Cells = append(spec.Sweep.Cells, cellSpec(c))
	}
	return spec
}

func implementationSpec(i record.Implementation) v1alpha1.Implementation {
	return v1alpha1.Implementation{
		Name: i.Name, Image: i.Image, Command: slices.Clone(i.Command), Port: i.Port, CPUs: i.CPUs,
		Memory: resource.NewQuantity(i.MemoryBytes, resource.BinarySI), Role: v1alpha1.Role(i.Role),
	}
}

func cellSpec(c record.Cell) v1alpha1.Cell {
	out := v1alpha1.Cell{
		Load: c.Load, Tool: v1alpha1.Tool(c.Tool), Connections: c.Connections, RequestsPerSecond: c.RequestsPerSecond,
		RampToRequestsPerSecond: c.RampToRequestsPerSecond, Step: c.Step, Generators: c.Generators, Threads: c.Threads,
		Connection: v1alpha1.ConnectionUse(c.Connection), WarmupSeconds: &c.WarmupSeconds, DurationSeconds: c.DurationSeconds,
		Request: v1alpha1.Request{Path: c.Request.Path, Expect: v1alpha1.Expect{Status: c.Request.Expect.Status, Body: c.Request.Expect.Body}},
		Order:   v1alpha1.Order(c.Order),
	}
	if s := c.Search; s != nil {
		out.Search = v1alpha1.Search{
			Percentile: s.Percentile, MaxMilliseconds: s.MaxMilliseconds, StartRequestsPerSecond: s.StartRequestsPerSecond, Steps: s.Steps,
		}
	}
	if s := c.Script; s != nil {
		out.Script = v1alpha1.Script{ConfigMap: s.ConfigMap, Key: s.Key}
	}
	return out
}

// Read is the sweep that an object asks for: what Write has written.
func Read(spec v1alpha1.TrialSpec) Sweep {
	s := Sweep{
		Generators: record.Generators{Pods: spec.Sweep.Generators.Pods, CPUs: spec.Sweep.Generators.CPUs},
		Placement: record.Placement{
			Pinning: record.Strictness(spec.Placement.Pinning), GeneratorPinning: record.Strictness(spec.Placement.GeneratorPinning),
			SeparateNodes: record.Strictness(spec.Placement.SeparateNodes),
		},
	}
	for _, i := range spec.Sweep.Servers {
		s.Implementations = append(s.Implementations, record.Implementation{
			Name: i.Name, Image: i.Image, Command: slices.Clone(i.Command), Port: i.Port, CPUs: i.CPUs, MemoryBytes: memoryOf(i), Role: record.Role(i.Role),
		})
	}
	for _, c := range spec.Sweep.Cells {
		s.Cells = append(s.Cells, cellOf(c))
	}
	return s
}

func memoryOf(i v1alpha1.Implementation) int64 {
	if i.Memory == nil {
		return 0
	}
	return i.Memory.Value()
}

func cellOf(c v1alpha1.Cell) record.Cell {
	out := record.Cell{
		Load: c.Load, Tool: record.Tool(c.Tool), Connections: c.Connections, RequestsPerSecond: c.RequestsPerSecond,
		RampToRequestsPerSecond: c.RampToRequestsPerSecond, Step: c.Step, Generators: c.Generators, Threads: c.Threads,
		Connection: record.ConnectionUse(c.Connection), DurationSeconds: c.DurationSeconds,
		Request: record.Request{Path: c.Request.Path, Expect: record.Expect{Status: c.Request.Expect.Status, Body: c.Request.Expect.Body}},
		Order:   record.Order(c.Order),
	}
	if c.WarmupSeconds != nil {
		out.WarmupSeconds = *c.WarmupSeconds
	}
	if s := c.Script; !s.IsZero() {
		out.Script = &record.Script{ConfigMap: s.ConfigMap, Key: s.Key}
	}
	if s := c.Search; !s.IsZero() {
		out.Search = &record.Search{
			Percentile: s.Percentile, MaxMilliseconds: s.MaxMilliseconds, StartRequestsPerSecond: s.StartRequestsPerSecond, Steps: s.Steps,
		}
	}
	return out
}
