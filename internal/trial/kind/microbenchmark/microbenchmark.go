// Package microbenchmark is the kind of work that runs a program which measures itself and ends. Processes are
// repeated, in random order within blocks, and compared case by case.
package microbenchmark

import (
	"encoding/json"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/tool/cases"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// DefaultLimitSeconds is the default time limit of a process.
	DefaultLimitSeconds = 300
	// endGap is the time after a process's limit to end it and read its output.
	endGap = 5 * time.Second
	// collectorMilliCPU is a fraction of a CPU, so the collector runs on the node's shared CPUs and never on the
	// program's.
	collectorMilliCPU = 200
	// collectorMemory holds the largest output several times.
	collectorMemory = 256 << 20
	// leastMemory is a program's minimum, since the agent that starts it is in its container.
	leastMemory = 32 << 20
)

const (
	// ProcessProgram measures itself; ProcessCollector watches it and keeps its output.
	ProcessProgram   = "program"
	ProcessCollector = "collector"
)

// Kind is the kind of work.
type Kind struct{}

var _ kind.Kind = Kind{}

// Type implements kind.Kind.
func (Kind) Type() record.WorkType { return record.Microbenchmark }

// RefuseDependencies implements kind.Kind: dependencies would be measured with the program.
func (Kind) RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *kind.Violation {
	return kind.Invalid("spec.implementations[%d].dependencies are for servers, and %s measures itself: remove them, or start what it needs in its image", implementation, spec.Implementations[implementation].Name)
}

// Needs implements kind.Kind: a program measures itself.
func (Kind) Needs(record.Plan) []kind.Need { return nil }

// Microbenchmark is what one trial does.
type Microbenchmark struct {
	Program record.Implementation
	record.Programs
}

var _ kind.Work = Microbenchmark{}

// Servers implements kind.Work.
func (m Microbenchmark) Servers() []record.Implementation {
	return []record.Implementation{m.Program}
}

// Slots implements kind.Work: one slot of the time limit, which ends with the process.
func (m Microbenchmark) Slots() []timetable.Slot {
	limit := time.Duration(m.LimitSeconds) * time.Second
	return []timetable.Slot{{Measured: limit, End: limit + endGap}}
}

// EndsItself implements kind.Work.
func (m Microbenchmark) EndsItself() bool { return true }

// Check implements kind.Work: there are no generators.
func (m Microbenchmark) Check([]string, []protocol.Script) *protocol.Check { return nil }

// Describe implements kind.Work.
func (m Microbenchmark) Describe(manifest *record.TrialManifest) { manifest.Programs = &m.Programs }

// Members implements kind.Work: the program in its image, and a collector.
func (m Microbenchmark) Members() []kind.Member {
	return []kind.Member{{Name: record.MemberServer(0), Role: v1alpha1.RoleServer, Processes: []kind.Process{
		{
			Name: ProcessProgram, Image: m.Program.Image, Command: m.Program.Command, Container: m.Program.Container, Launched: true,
			MilliCPU: int64(m.Program.CPUs) * 1000, MemoryBytes: m.Program.MemoryBytes,
		},
		{
			Name: ProcessCollector, Args: append([]string{"collect", "--format=" + string(m.Output(m.Program.Name).Format)}, kind.SymbolArgs(m.Program.Claims)...), Exchanges: true,
			MilliCPU: collectorMilliCPU, MemoryBytes: collectorMemory,
		},
	}}}
}

// Decode implements kind.Kind: the only member's collector has left a result.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	if err := kind.DecodeAlone(results, into, "programs", "a program", func(r record.ObserverResult) bool { return r.Program != nil }); err != nil {
		return err
	}
	if how := into.Manifest.Programs; how != nil {
		own := into.Servers[0].Program
		own.Cases = cases.Rename(own.Cases, how.Output(into.Manifest.Servers[0]).Cases)
	}
	return nil
}

// Rows implements kind.Kind: for each metric of a case, the median of the process's own repetitions. These share a
// memory layout and count as one sample.
func (Kind) Rows(t record.TrialData) []record.Row {
	var rows []record.Row
	for _, c := range t.Servers[0].Program.Cases {
		for _, v := range c.Values {
			if len(v.Samples) > 0 {
				rows = append(rows, record.Exactly(v.Metric, c.Name, v.Unit, v.Better, inference.Median(v.Samples)))
			}
		}
	}
	return rows
}
