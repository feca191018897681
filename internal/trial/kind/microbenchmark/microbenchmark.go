// Package microbenchmark is the kind of work that runs a program which measures itself and ends: the process is what is repeated, in random
// order within blocks, and what it prints is compared case by case.
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
	// DefaultLimitSeconds is how long a process may take where the spec says nothing.
	DefaultLimitSeconds = 300
	// endGap is the time between the limit of a process and the end of its slot, in which it is ended and what it has left is read.
	endGap = 5 * time.Second
	// collectorMilliCPU is what the collector beside the program asks for, in thousandths of a CPU: a fraction, so that it runs on the
	// node's shared CPUs and never on the program's own.
	collectorMilliCPU = 200
	// collectorMemory is enough for the largest output that is read, several times.
	collectorMemory = 256 << 20
	// leastMemory is what a program gets at least: the agent that starts it lives in its container.
	leastMemory = 32 << 20
)

// Names of processes.
const (
	// ProcessProgram measures itself, and ProcessCollector watches it and keeps what it prints.
	ProcessProgram   = "program"
	ProcessCollector = "collector"
)

// Kind is the kind of work.
type Kind struct{}

var _ kind.Kind = Kind{}

// Type implements kind.Kind.
func (Kind) Type() record.WorkType { return record.Microbenchmark }

// RefuseDependencies implements kind.Kind: what runs beside a program would be measured with it.
func (Kind) RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *kind.Violation {
	return kind.Invalid("spec.implementations[%d].dependencies are for servers, and %s measures itself: remove them, or start what it needs in its image", implementation, spec.Implementations[implementation].Name)
}

// Needs implements kind.Kind: a program measures itself.
func (Kind) Needs(record.Plan) []kind.Need { return nil }

// Microbenchmark is what one trial does.
type Microbenchmark struct {
	// Program is the implementation that is run.
	Program record.Implementation
	record.Programs
}

var _ kind.Work = Microbenchmark{}

// Servers implements kind.Work.
func (m Microbenchmark) Servers() []record.Implementation {
	return []record.Implementation{m.Program}
}

// Slots implements kind.Work: one, as long as the process may take. It ends with the process.
func (m Microbenchmark) Slots() []timetable.Slot {
	limit := time.Duration(m.LimitSeconds) * time.Second
	return []timetable.Slot{{Measured: limit, End: limit + endGap}}
}

// EndsItself implements kind.Work.
func (m Microbenchmark) EndsItself() bool { return true }

// Check implements kind.Work: there is nobody to ask.
func (m Microbenchmark) Check([]string, []protocol.Script) *protocol.Check { return nil }

// Describe implements kind.Work.
func (m Microbenchmark) Describe(manifest *record.TrialManifest) { manifest.Programs = &m.Programs }

// Members implements kind.Work: the program, in its own image, and a collector beside it.
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

// Decode implements kind.Kind: a trial has one member, and its collector has left a result.
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

// Rows implements kind.Kind: of each metric of a case the median of the repetitions that the process made by itself. The process is what is
// repeated: its repetitions share its memory layout and are not counted as more than one.
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
