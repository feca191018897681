package sweep

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Write implements kind.Kind.
func (Kind) Write(p record.Plan, _ record.PlannedTrial) v1alpha1.TrialSpec {
	spec := v1alpha1.TrialSpec{Sweep: v1alpha1.Sweep{Generators: v1alpha1.Generators{Pods: p.Generators.Pods, CPUs: p.Generators.CPUs}}}
	for _, c := range p.Cells {
		spec.Sweep.Cells = append(spec.Sweep.Cells, cellSpec(c))
	}
	return spec
}

func cellSpec(c record.Cell) v1alpha1.Cell {
	out := v1alpha1.Cell{
		Load: c.Load, Tool: v1alpha1.Tool(c.Tool), Connections: c.Connections, RequestsPerSecond: c.RequestsPerSecond,
		RampToRequestsPerSecond: c.RampToRequestsPerSecond, Step: c.Step, Generators: c.Generators, Threads: c.Threads,
		Connection: v1alpha1.ConnectionUse(c.Connection), Protocol: v1alpha1.Protocol(c.Protocol()), WarmupSeconds: &c.WarmupSeconds, DurationSeconds: c.DurationSeconds,
		Request: kind.WriteRequest(c.Request), Requests: kind.WriteMix(c.Mix),
		Order: v1alpha1.Order(c.Order), StreamsPerConnection: c.StreamsPerConnection,
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

// Read is the sweep that the spec of a Trial asks for.
func Read(spec v1alpha1.TrialSpec) Sweep {
	s := Sweep{
		Implementations: kind.ReadServers(spec), Generators: record.Generators{Pods: spec.Sweep.Generators.Pods, CPUs: spec.Sweep.Generators.CPUs},
		Placement: kind.ReadPlacement(spec.Placement),
	}
	for _, c := range spec.Sweep.Cells {
		s.Cells = append(s.Cells, cellOf(c))
	}
	return s
}

func cellOf(c v1alpha1.Cell) record.Cell {
	out := record.Cell{
		Load: c.Load, Tool: record.Tool(c.Tool), Connections: c.Connections, RequestsPerSecond: c.RequestsPerSecond,
		RampToRequestsPerSecond: c.RampToRequestsPerSecond, Step: c.Step, Generators: c.Generators, Threads: c.Threads,
		Connection: record.ConnectionUse(c.Connection), DurationSeconds: c.DurationSeconds,
		Request: kind.ReadRequest(c.Request), Mix: kind.ReadMix(c.Requests),
		Order: record.Order(c.Order), StreamsPerConnection: c.StreamsPerConnection,
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
	return out.Speaking(protocolOf(c.Protocol))
}
