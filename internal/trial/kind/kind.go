// Package kind defines what every kind of work of a trial must provide: its members, its timetable, and the meaning
// of its results.
//
// A kind is a subfolder, a line in package kinds, and its fields in the BenchmarkRun spec and the recorded plan. A
// new way to measure also adds an agent to package role and its result to record.ObserverResult. Results beyond rows
// add a report section, and their part of the table to package analysis.
//
// The package and its kinds are pure.
package kind

import (
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Work is what one trial does.
type Work interface {
	// Servers returns the measured implementations, in the order of their members.
	Servers() []record.Implementation
	// Members returns all members in starting order, generators first.
	Members() []Member
	// Slots returns the timetable.
	Slots() []timetable.Slot
	// EndsItself reports whether a measured process ends when its work is done. Otherwise, a process that ends has
	// failed.
	EndsItself() bool
	// Check returns what generators are asked before the measurement; nil for nothing.
	Check(targets []string, scripts []protocol.Script) *protocol.Check
	// Describe records in the trial's manifest what was to be done.
	Describe(m *record.TrialManifest)
}

// Kind is one kind of work.
type Kind interface {
	// Type returns the kind's name in records.
	Type() record.WorkType
	// Asks returns the spec field that requests the kind; Asked reports whether a spec does.
	Asks() Ask
	Asked(spec v1alpha1.BenchmarkRunSpec) bool
	// Plan checks the kind's part of a spec and fills it into a plan whose common part is complete.
	Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *Violation
	// RefuseDependencies says why an implementation (by index) cannot have dependencies; nil if it can.
	RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *Violation
	// Needs returns the programs that trials start on one machine besides the implementations. On a cluster,
	// Loadstone's images have them.
	Needs(p record.Plan) []Need
	// Work returns what a line's trial does. It shares memory with the plan and is read-only.
	Work(p record.Plan, line record.PlannedTrial) Work
	// Decode reads the stored results of a trial's members, by name, and refuses what contradicts the manifest.
	Decode(results map[string]json.RawMessage, into *record.TrialData) error
	// Rows returns the values that are compared as they are, block by block. A kind with its own rules, such as a
	// sweep with levels, has none.
	Rows(t record.TrialData) []record.Row
}

// Ask is how users request a kind of work.
type Ask struct {
	// Field is such as "spec.loads", Way such as "name at least one load".
	Field, Way string
}

// Need is a program that must be installed if no image has it.
type Need struct {
	// Field requests it, such as "loads[sweep].tool".
	Field, Program string
	// Install says how to install it, Otherwise what to do without it.
	Install, Otherwise string
}

// Follower is a kind of work after all blocks of another kind. Its Asked and Plan are called once the other kind has
// planned.
type Follower interface {
	Kind
	// Follow plans the kind's trials, with indices from first on.
	Follow(spec v1alpha1.BenchmarkRunSpec, p record.Plan, run string, first int32) []record.PlannedTrial
	// Field returns an item's name for users, such as "profiles[memory]".
	Field(item string) string
}

// Group is a trial of a block, as its kind divides the block.
type Group struct {
	// Name is the end of the trial's name.
	Name    string
	Servers []string
}

// Grouper is a kind whose trials may measure several implementations, in turns on one CPU. Other kinds measure one
// per trial.
type Grouper interface {
	// Groups returns the trials of a block, given its drawn order of implementations.
	Groups(p record.Plan, drawn []string) []Group
}

// Placed is a kind that can keep members on separate nodes and says what happens to results of a process without its
// own CPUs. For other kinds the process is void.
type Placed interface {
	// Unowned describes what the default of spec.placement.pinning voids.
	Unowned(pl v1alpha1.Placement, order record.Order) string
}

// Alone returns trials that measure one implementation each.
func Alone(drawn []string) []Group {
	groups := make([]Group, len(drawn))
	for i, name := range drawn {
		groups[i] = Group{Name: name, Servers: []string{name}}
	}
	return groups
}

// Kinds are the known kinds by type.
type Kinds map[record.WorkType]Kind

// NewKinds returns the kinds by type.
func NewKinds(list ...Kind) Kinds {
	kinds := Kinds{}
	for _, k := range list {
		kinds[k.Type()] = k
	}
	return kinds
}

// Member takes part in a trial: a pod on a cluster.
type Member struct {
	// Name is unique in the trial, such as "server-0" or "generator-1".
	Name string
	// Role selects its nodes: "server" or "generator".
	Role string
	// Processes are its processes; the first one is measured or measures. Several see each other.
	Processes []Process
	// With is the member that shares its node; empty for any.
	With string
	// Apart is how strictly it avoids the servers' nodes; empty if it need not.
	Apart record.Strictness
	// Words are for messages about missing room.
	Words Words
}

// MilliCPU returns the sum of its processes' requests, in thousandths of a CPU.
func (m Member) MilliCPU() int64 {
	var sum int64
	for _, p := range m.Processes {
		sum += p.MilliCPU
	}
	return sum
}

// MemoryBytes returns the sum of its processes' requests.
func (m Member) MemoryBytes() int64 {
	var sum int64
	for _, p := range m.Processes {
		sum += p.MemoryBytes
	}
	return sum
}

// Words are a kind's messages about a member without room; all may be empty.
type Words struct {
	// CPUs begins the message if no node is large enough, such as "spec.order is SlicedDuet: its two servers need".
	// If empty, the implementation's cpus are quoted.
	CPUs string
	// Number begins the message if only some such members fit, such as "spec.loads[].generators.pods is 3".
	Number string
	// Way is a solution besides fewer CPUs or more nodes, such as "choose spec.order Blocks".
	Way string
}

// CPUShare is how a process gets CPU time.
type CPUShare int

const (
	// Limited processes get exactly their request; whole CPUs are exclusive.
	Limited CPUShare = iota
	// Unlimited processes share their node's CPUs, with at least their request.
	Unlimited
)

// Process is one process of a member: a container on a cluster.
type Process struct {
	Name string
	// Image runs on a cluster; empty for Loadstone's agent.
	Image string
	// Command is the argument vector; empty means the image's own. Agents ignore it.
	Command []string
	// Args are an agent's arguments, at least one; empty for other processes.
	Args []string
	// Container holds the settings of a process that is not Loadstone's.
	Container record.Container
	// Launched marks a Command that an agent inside its image starts on demand. Exchanges marks the neighboring agent
	// that demands it; the two share a folder.
	Launched, Exchanges bool
	// Toolbox: the profilers are added to the image.
	Toolbox bool
	// Dependency names a dependency, which is ready before the measured process and lives as long; empty for other
	// processes.
	Dependency string
	// Port is the listening port; 0 if none.
	Port int32
	// MilliCPU is its request in thousandths of a CPU.
	MilliCPU    int64
	CPU         CPUShare
	MemoryBytes int64
}

// IsAgent reports whether the process is Loadstone's own.
func (p Process) IsAgent() bool { return len(p.Args) > 0 }

// Unknown is the work of a trial that is not in its run's plan, as this version compiles it. It has no members and
// takes no time.
type Unknown struct{}

var _ Work = Unknown{}

// Servers implements Work.
func (Unknown) Servers() []record.Implementation { return nil }

// Members implements Work.
func (Unknown) Members() []Member { return nil }

// Slots implements Work.
func (Unknown) Slots() []timetable.Slot { return nil }

// EndsItself implements Work.
func (Unknown) EndsItself() bool { return false }

// Check implements Work.
func (Unknown) Check([]string, []protocol.Script) *protocol.Check { return nil }

// Describe implements Work.
func (Unknown) Describe(*record.TrialManifest) {}

// DecodeAlone reads the result of a trial with one member. It refuses results for which holds is false; plural and
// about are words for its errors.
func DecodeAlone(results map[string]json.RawMessage, into *record.TrialData, plural, about string, holds func(record.ObserverResult) bool) error {
	if n := len(into.Manifest.Servers); n != 1 {
		return fmt.Errorf("its trial has %d %s: want 1", n, plural)
	}
	member := record.MemberServer(0)
	body, ok := results[member]
	if !ok || len(results) > 1 {
		return fmt.Errorf("its trial has the results of %d members: want that of %s alone", len(results), member)
	}
	into.Servers = make([]record.ObserverResult, 1)
	if err := json.Unmarshal(body, &into.Servers[0]); err != nil {
		return fmt.Errorf("reading the result of %s: %w", member, err)
	}
	if !holds(into.Servers[0]) {
		return fmt.Errorf("reading the result of %s: it holds nothing of %s", member, about)
	}
	return nil
}
