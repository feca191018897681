// Package kind is what every kind of work looks like that a trial can do: who takes part in it, when it is measured, what its results say.
//
// A kind is a folder beside this package, a line in package kinds, and what has to be written down of it: its member in the spec of a BenchmarkRun, and
// in the plan that is recorded. What plans, leads, starts, stores, compares and prints a trial asks its kind. One that measures as
// no agent does yet adds an agent to package role and its result to record.ObserverResult. One whose results are more than rows adds a section to the
// report, and to package analysis the part of the table that the section prints.
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
	// Servers are the implementations that are measured, in the order of the members of that name.
	Servers() []record.Implementation
	// Members are those who take part, in the order in which they are told to start: generators first.
	Members() []Member
	// Slots say when each of its steps is measured.
	Slots() []timetable.Slot
	// EndsItself reports whether a measured process ends when its work is done. Where it does not, one that ends has failed.
	EndsItself() bool
	// Check is what is asked of the generators before anything is measured; nil if there is nothing to ask.
	Check(targets []string, scripts []protocol.Script) *protocol.Check
	// Describe writes down in the trial's manifest what was to be done.
	Describe(m *record.TrialManifest)
}

// Kind is one kind of work.
type Kind interface {
	// Type is the kind's name in records.
	Type() record.WorkType
	// Asks says by what the spec of a run asks for work of the kind, and Asked whether one does.
	Asks() Ask
	Asked(spec v1alpha1.BenchmarkRunSpec) bool
	// Plan checks the kind's part of a run's spec and fills it into a plan, whose common part is filled in.
	Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *Violation
	// RefuseDependencies says why nothing can run beside an implementation, which has an index in the spec; nil if it can.
	RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *Violation
	// Needs are the programs that trials start on one machine beside the implementations. On a cluster Loadstone's images bring them.
	Needs(p record.Plan) []Need
	// Work is what a trial of the kind does, by its line of a plan. It shares what it holds with the plan, and is to be read only.
	Work(p record.Plan, line record.PlannedTrial) Work
	// Decode reads the results of the members of a trial, as they lie in the store, by the member's name. It fills in what is known of the
	// trial, and refuses what contradicts the trial's manifest.
	Decode(results map[string]json.RawMessage, into *record.TrialData) error
	// Rows are the values of a trial that are compared as they are, block by block. A kind with rules of its own for what is compared,
	// as a sweep has for its levels, has none.
	Rows(t record.TrialData) []record.Row
}

// Ask is how people ask for a kind of work.
type Ask struct {
	// Field is what they fill in, such as "spec.loads", and Way how, such as "name at least one load".
	Field, Way string
}

// Need is a program that has to be installed where no image brings it.
type Need struct {
	// Field is what asks for it, such as "loads[sweep].tool".
	Field, Program string
	// Install says how it is installed, and Otherwise what to do without it.
	Install, Otherwise string
}

// Follower is a kind of work that follows the blocks of another kind, when all of them have been measured. Asked and Plan are asked of it when
// the other kind has planned.
type Follower interface {
	Kind
	// Follow lays out the kind's trials, which have indices from first on.
	Follow(spec v1alpha1.BenchmarkRunSpec, p record.Plan, run string, first int32) []record.PlannedTrial
	// Field is what people know an item by, such as "profiles[memory]".
	Field(item string) string
}

// Group is a trial of a block, as its kind lays the block out.
type Group struct {
	// Name is what the trial's name ends in.
	Name string
	// Servers are the implementations that it measures.
	Servers []string
}

// Grouper is a kind whose trials may measure several implementations, in turns on one CPU. A trial of any other kind measures one.
type Grouper interface {
	// Groups are the trials of a block of a plan, whose implementations come in the order that was drawn for the block.
	Groups(p record.Plan, drawn []string) []Group
}

// Placed is a kind whose members can be kept on nodes of their own, and that says itself what becomes of its results where a process does not own
// its CPUs. Of any other kind the process is void.
type Placed interface {
	// Unowned is what the default of spec.placement.pinning voids, in a sentence.
	Unowned(pl v1alpha1.Placement, order record.Order) string
}

// Alone are trials that measure one implementation each.
func Alone(drawn []string) []Group {
	groups := make([]Group, len(drawn))
	for i, name := range drawn {
		groups[i] = Group{Name: name, Servers: []string{name}}
	}
	return groups
}

// Kinds are the known kinds, by their type.
type Kinds map[record.WorkType]Kind

// NewKinds lists kinds by their type.
func NewKinds(list ...Kind) Kinds {
	kinds := Kinds{}
	for _, k := range list {
		kinds[k.Type()] = k
	}
	return kinds
}

// Member takes part in a trial: a pod on a cluster.
type Member struct {
	// Name is the member's in its trial, such as "server-0" or "generator-1".
	Name string
	// Role says on which nodes it may run: "server" or "generator".
	Role string
	// Processes are those that it consists of. The first is the one that is measured, or that measures. They see each other if there are several.
	Processes []Process
	// With is the member on whose node it must run; empty if that does not matter.
	With string
	// Apart is how strictly it stays off the nodes of the run's servers; empty if that does not matter.
	Apart record.Strictness
	// Words are for the sentence that refuses a run whose members find no room.
	Words Words
}

// MilliCPU is the CPU time that the processes of the member ask for together, in thousandths of a CPU.
func (m Member) MilliCPU() int64 {
	var sum int64
	for _, p := range m.Processes {
		sum += p.MilliCPU
	}
	return sum
}

// MemoryBytes is what the processes of the member ask for together.
func (m Member) MemoryBytes() int64 {
	var sum int64
	for _, p := range m.Processes {
		sum += p.MemoryBytes
	}
	return sum
}

// Words are what a kind says of a member for which the nodes have no room. All of them may be empty.
type Words struct {
	// CPUs begins the sentence where no node is large enough, such as "spec.order is SlicedDuet: its two servers need". If it is empty, the
	// cpus of the implementation are quoted.
	CPUs string
	// Number begins the sentence where the nodes have room for some of its like only, such as "spec.loads[].generators.pods is 3".
	Number string
	// Way is a way out beside fewer CPUs and more nodes, such as "choose spec.order Blocks".
	Way string
}

// CPUShare is how a process gets its CPU time.
type CPUShare int

const (
	// Limited processes get what they ask for, and no more. One that asks for whole CPUs has them for itself.
	Limited CPUShare = iota
	// Unlimited processes share the CPUs of their node, with at least what they ask for.
	Unlimited
)

// Process is one process of a member: a container on a cluster.
type Process struct {
	// Name is the process's in its member.
	Name string
	// Image is what runs on a cluster; empty for Loadstone's own agent.
	Image string
	// Command is the argument vector; empty means the image's own. It is of no meaning for an agent.
	Command []string
	// Args are the arguments of an agent, which has at least one; empty for any other process.
	Args []string
	// Container is what a process that is none of Loadstone's gets beside its image and its command.
	Container record.Container
	// Launched is true of a Command that an agent, which is brought into the image, starts when it is told to and waits for. Exchanges is true
	// of the agent beside it that does so: the two share a folder.
	Launched, Exchanges bool
	// Toolbox is true of a Launched command that needs the profilers, which are brought into the image with the agent.
	Toolbox bool
	// Dependency is the name of a dependency, which is started before the measured process, is ready before it and lives as long; empty of any
	// other process.
	Dependency string
	// Port is where the process listens; 0 if it does not.
	Port int32
	// MilliCPU is the CPU time that it asks for, in thousandths of a CPU, and CPU how it gets it.
	MilliCPU    int64
	CPU         CPUShare
	MemoryBytes int64
}

// IsAgent reports whether the process is Loadstone's own.
func (p Process) IsAgent() bool { return len(p.Args) > 0 }

// Unknown is the work of a trial that is not in the plan of its run, as this version compiles it: it has no members and takes no time.
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

// DecodeAlone reads the result of a trial that has one member, whose measured processes a kind calls by a plural. A result that does not hold
// what the kind is about is refused, as one of nothing of it.
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
