// Package profile is the kind of work that runs a server under a profiler with a fixed number of requests, to find
// their costs or errors. Nothing is timed.
package profile

import (
	"encoding/json"
	"strconv"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Defaults of a profile, filled in by Plan and stated in the plan's notes.
const (
	DefaultRequests     = 10_000
	DefaultConnections  = 1
	DefaultLimitSeconds = 300
	// countingRepeats show the spread of a counting tool.
	countingRepeats = 3
)

const (
	// endGap is the time after a trial's limit to end the server and read the profiler's files.
	endGap = 60 * time.Second
	// monitorMilliCPU is a fraction of a CPU, so the monitor never runs on the server's CPUs.
	monitorMilliCPU = 200
	// monitorMemory is enough for the largest profiler files.
	monitorMemory = 384 << 20
	// leastMemory is a server's minimum, since the agent that starts it is in its container.
	leastMemory = 32 << 20
)

const (
	// ProcessServer runs under the profiler; ProcessMonitor sends its requests and reads the profiler's files.
	ProcessServer  = "server"
	ProcessMonitor = "monitor"
)

// Kind is the kind of work.
type Kind struct{}

var _ kind.Follower = Kind{}

// Type implements kind.Kind.
func (Kind) Type() record.WorkType { return record.ProfileType }

// Profile is what one trial does.
type Profile struct {
	Server record.Implementation
	record.Profile
}

var _ kind.Work = Profile{}

// Servers implements kind.Work.
func (p Profile) Servers() []record.Implementation { return []record.Implementation{p.Server} }

// Slots implements kind.Work: one slot for all launches, which ends with the last.
func (p Profile) Slots() []timetable.Slot {
	limit := time.Duration(p.LimitSeconds) * time.Second
	return []timetable.Slot{{Measured: limit, End: limit + endGap}}
}

// EndsItself implements kind.Work: the monitor ends the server.
func (p Profile) EndsItself() bool { return true }

// Check implements kind.Work: the monitor checks every answer.
func (p Profile) Check([]string, []protocol.Script) *protocol.Check { return nil }

// Describe implements kind.Work.
func (p Profile) Describe(manifest *record.TrialManifest) { manifest.Profiling = &p.Profile }

// Members implements kind.Work: the server in its image, with the profilers added, and a monitor.
func (p Profile) Members() []kind.Member {
	return []kind.Member{{Name: record.MemberServer(0), Role: v1alpha1.RoleServer, Processes: []kind.Process{
		{
			Name: ProcessServer, Image: p.Server.Image, Command: p.Server.Command, Container: p.Server.Container, Launched: true, Toolbox: true,
			MilliCPU: int64(p.Server.CPUs) * 1000, MemoryBytes: profiler.MemoryBytes(p.Tool, p.Server.MemoryBytes),
		},
		{Name: ProcessMonitor, Args: p.monitorArgs(), Exchanges: true, MilliCPU: monitorMilliCPU, MemoryBytes: monitorMemory},
	}}}
}

// monitorArgs tells the monitor what to do. The server's command comes through the shared folder.
func (p Profile) monitorArgs() []string {
	args := []string{
		"profile", "--tool=" + string(p.Tool), "--limit=" + strconv.Itoa(int(p.LimitSeconds)), "--path=" + p.Request.Path,
		"--status=" + strconv.Itoa(int(p.Request.Expect.Status)), "--requests=" + strconv.Itoa(int(p.Requests)),
		"--connections=" + strconv.Itoa(int(p.Connections)), "--repeats=" + strconv.Itoa(int(p.Repeats)),
	}
	if body := p.Request.Expect.Body; body != nil {
		args = append(args, "--compare-body", "--body="+*body)
	}
	if p.Request.Method != "" {
		args = append(args, "--method="+p.Request.Method)
	}
	for _, h := range p.Request.Headers {
		args = append(args, "--header="+h.Name+": "+h.Value)
	}
	if p.Request.Body != "" {
		args = append(args, "--send="+p.Request.Body)
	}
	args = append(args, kind.TLSArgs(p.Server)...)
	if seconds := p.Server.Container.Readiness.Seconds; seconds > 0 {
		args = append(args, "--start-seconds="+strconv.Itoa(int(seconds)))
	}
	if name := p.Server.StopSignal; name != "" {
		args = append(args, "--stop-signal="+name)
	}
	return args
}

// RefuseDependencies implements kind.Kind: a profile starts its server several times in one trial.
func (Kind) RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *kind.Violation {
	name := spec.Implementations[implementation].Name
	for i, own := range spec.Profiles {
		if profiled(own, name) {
			return kind.Invalid("spec.profiles[%d] would start %s several times beside one and the same database or the like (spec.implementations[%d].dependencies): name others in spec.profiles[%d].implementations", i, name, implementation, i)
		}
	}
	return nil
}

// Needs implements kind.Kind: the profilers.
func (Kind) Needs(p record.Plan) []kind.Need {
	var needs []kind.Need
	for _, own := range p.Profiles {
		if name := own.Tool.Program(); name != "" {
			needs = append(needs, kind.Need{
				Field: "profiles[" + own.Name + "].tool", Program: name, Install: "apt-get install " + name, Otherwise: "remove the profile",
			})
		}
	}
	return needs
}

// Decode implements kind.Kind: the only member's monitor has left a result.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	return kind.DecodeAlone(results, into, "servers", "a profile", func(r record.ObserverResult) bool { return r.Profiled != nil && into.Manifest.Profiling != nil })
}

// Rows implements kind.Kind: profiles are (almost) deterministic, not samples, and have their own comparison.
func (Kind) Rows(record.TrialData) []record.Row { return nil }
