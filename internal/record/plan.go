package record

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// A plan has these of a spec as they are.
type (
	Tool          = v1alpha1.Tool
	ConnectionUse = v1alpha1.ConnectionUse
	Role          = v1alpha1.Role
	Order         = v1alpha1.Order
	Strictness    = v1alpha1.Strictness
	Expectation   = v1alpha1.Expectation
	Expectations  = v1alpha1.Build
	ClaimSubject  = v1alpha1.ClaimSubject
	CaseFormat    = v1alpha1.CaseFormat
	CaseName      = v1alpha1.CaseName
	Script        = v1alpha1.Script
	Search        = v1alpha1.Search
	// Protocol is empty for HTTP/1.1, or what a tool has of its kind: a plan never holds v1alpha1.ProtocolHTTP1.
	Protocol = v1alpha1.Protocol
)

// Their values.
const (
	ToolWrk    = v1alpha1.ToolWrk
	ToolAb     = v1alpha1.ToolAb
	ToolK6     = v1alpha1.ToolK6
	ToolVegeta = v1alpha1.ToolVegeta
	ToolH2load = v1alpha1.ToolH2load

	KeepAlive  = v1alpha1.KeepAlive
	PerRequest = v1alpha1.PerRequest

	HTTP2 = v1alpha1.ProtocolHTTP2

	RoleContender = v1alpha1.RoleContender
	RoleReference = v1alpha1.RoleReference

	OrderBlocks     = v1alpha1.OrderBlocks
	OrderSlicedDuet = v1alpha1.OrderSlicedDuet

	Required  = v1alpha1.Required
	Preferred = v1alpha1.Preferred

	ExpectRequired  = v1alpha1.ExpectRequired
	ExpectForbidden = v1alpha1.ExpectForbidden

	ClaimAllocator = v1alpha1.ClaimAllocator
	ClaimCompiler  = v1alpha1.ClaimCompiler
	ClaimFlag      = v1alpha1.ClaimFlag
	ClaimGoSetting = v1alpha1.ClaimGoSetting
	ClaimGoVersion = v1alpha1.ClaimGoVersion
	ClaimLibrary   = v1alpha1.ClaimLibrary
	ClaimProperty  = v1alpha1.ClaimProperty
	ClaimResponse  = v1alpha1.ClaimResponse
	ClaimSymbol    = v1alpha1.ClaimSymbol

	GoogleBenchmark = v1alpha1.FormatGoogleBenchmark
	GoTest          = v1alpha1.FormatGoTest
	JSONLines       = v1alpha1.FormatJSONLines
)

// Percentiles are those of latencies that can be compared, in ascending order.
var Percentiles = []string{"50", "90", "95", "99", "99.9"}

// Plan is what a run was to measure: its spec, with every default filled in. Readers of a run's records find its question here.
type Plan struct {
	// Seed decides the random order within the blocks.
	Seed  uint64 `json:"seed"`
	Order Order  `json:"order"`
	// Blocks is the number of blocks that were planned, repeats not included.
	Blocks          int32            `json:"blocks"`
	Implementations []Implementation `json:"implementations"`
	Baseline        string           `json:"baseline"`
	Loads           []Load           `json:"loads"`
	// Generators is what the largest load needs.
	Generators Generators `json:"generators"`
	Placement  Placement  `json:"placement"`
	Validity   Validity   `json:"validity"`
	// LatencyPercentiles are those that are compared, of Percentiles; none in a duet.
	LatencyPercentiles []string `json:"latencyPercentiles"`
	// MaxWidth is the width of intervals with which the run may end early, as a share in decimal; empty if it may not. Interim are the
	// blocks after which it is looked at.
	MaxWidth string  `json:"maxWidth,omitempty"`
	Interim  []int32 `json:"interim,omitempty"`
	// Objectives are the bounds that the run's values have to meet.
	Objectives []Objective    `json:"objectives,omitempty"`
	Cells      []Cell         `json:"cells"`
	Trials     []PlannedTrial `json:"trials"`
	// Programs is how programs that measure themselves are run; nil in a run that puts loads on servers.
	Programs *Programs `json:"programs,omitempty"`
	// Profiles are what the implementations are run under when all blocks have been measured.
	Profiles []Profile `json:"profiles,omitempty"`
	// Following are the trials that follow the blocks. They belong to no block, and take part in no verdict.
	Following []PlannedTrial `json:"following,omitempty"`
	// Notes say every default and decision in a sentence.
	Notes []string `json:"notes"`
	// TrialSeconds is the planned time of one trial from its first cell to its last; TimeoutSeconds bounds the run.
	TrialSeconds   float64 `json:"trialSeconds"`
	TimeoutSeconds int32   `json:"timeoutSeconds"`
}

// WholeTrials reports whether the trials of the blocks have no cells, so that each counts as one.
func (p Plan) WholeTrials() bool { return len(p.Cells) == 0 }

// Note adds a default or a decision, in a sentence.
func (p *Plan) Note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// Implementation finds an implementation by its name, which the plan must have.
func (p Plan) Implementation(name string) Implementation {
	i := slices.IndexFunc(p.Implementations, func(i Implementation) bool { return i.Name == name })
	return p.Implementations[i]
}

// Implementation is one server that is measured.
type Implementation struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// Command is the argument vector that starts it; empty means the image's own.
	Command []string `json:"command,omitempty"`
	Port    int32    `json:"port"`
	// TLS says that it speaks HTTPS there; nil if it speaks plain HTTP.
	TLS *TLS `json:"tls,omitempty"`
	// CPUs is the number of whole CPUs that it gets for itself.
	CPUs        int32 `json:"cpus"`
	MemoryBytes int64 `json:"memoryBytes"`
	Role        Role  `json:"role"`
	// Build is what is expected of the way in which it was built.
	Build Expectations `json:"build,omitzero"`
	// Claims are statements about it that are checked and fail nothing.
	Claims []Claim `json:"claims,omitempty"`
	// Container is what it gets beside its image and its command.
	Container Container `json:"container,omitzero"`
	// StopSignal tells its process to end where Loadstone ends it; empty is SIGTERM.
	StopSignal string `json:"stopSignal,omitempty"`
	// Dependencies are the containers that it needs beside it, in the order in which they start.
	Dependencies []Dependency `json:"dependencies,omitempty"`
}

// Programs is how programs that measure themselves are run.
type Programs struct {
	// Format is that of their standard output.
	Format CaseFormat `json:"format"`
	// LimitSeconds is how long one process may take.
	LimitSeconds int32 `json:"limitSeconds"`
	// Outputs are those of implementations that print in another format or under other names.
	Outputs []ProgramOutput `json:"outputs,omitempty"`
}

// Output is how an implementation prints its cases.
func (p Programs) Output(implementation string) ProgramOutput {
	i := slices.IndexFunc(p.Outputs, func(o ProgramOutput) bool { return o.Implementation == implementation })
	if i < 0 {
		return ProgramOutput{Implementation: implementation, Format: p.Format}
	}
	return p.Outputs[i]
}

// ProgramOutput is how one implementation prints its cases.
type ProgramOutput struct {
	Implementation string     `json:"implementation"`
	Format         CaseFormat `json:"format"`
	// Cases are the names that its cases have in the place of those that it prints. The first that matches counts.
	Cases []CaseName `json:"cases,omitempty"`
}

// Load is one sweep of a run. Its levels are cells.
type Load struct {
	Name string `json:"name"`
	// Weight is its share in the verdict over all loads; 0 if there is none over all of them.
	Weight float64 `json:"weight,omitempty"`
}

// Generators is where a load comes from.
type Generators struct {
	// Pods is the number of generators that share each level equally, and CPUs the number of whole CPUs of each.
	Pods int32 `json:"pods"`
	CPUs int32 `json:"cpus"`
}

// Placement is on which CPUs and nodes a run may be measured.
type Placement struct {
	Pinning          Strictness `json:"pinning"`
	GeneratorPinning Strictness `json:"generatorPinning"`
	SeparateNodes    Strictness `json:"separateNodes"`
}

// Validity holds the shares beyond which a cell is void.
type Validity struct {
	MaxErrorRate    float64 `json:"maxErrorRate"`
	MaxNeighbourCPU float64 `json:"maxNeighbourCPU"`
	MaxSteal        float64 `json:"maxSteal"`
}

// PlannedTrial is one trial of a plan.
type PlannedTrial struct {
	Name  string `json:"name"`
	Index int32  `json:"index"`
	// Block is that of the trial, from 1; 0 of a trial that follows all blocks.
	Block int32 `json:"block"`
	// Type is the kind of work that it does.
	Type WorkType `json:"type"`
	// Servers names the implementations that it measures: one, or the two of a duet.
	Servers []string `json:"servers"`
	// Item is the name of the item of the spec that it was laid out for, such as that of a profile; empty of a trial of a block. (Records call it a
	// profile: nothing else followed the blocks when their shape was made.)
	Item string `json:"profile,omitempty"`
}

// Follows reports whether the trial follows all blocks and belongs to none.
func (t PlannedTrial) Follows() bool { return t.Block == 0 }

// MaxCellSeconds and MaxRate bound how long a cell is measured, in seconds, and an arrival rate, in requests a second, as the API bounds them.
const MaxCellSeconds, MaxRate = 3600, 1_000_000

// Cell is one level of one load, measured once in a trial.
type Cell struct {
	Load string `json:"load"`
	Tool Tool   `json:"tool"`
	// Connections is the number of connections held open, over all generators.
	Connections int32 `json:"connections"`
	// StreamsPerConnection is the number of requests in flight on each connection; 0 if it is 1.
	StreamsPerConnection int32 `json:"streamsPerConnection,omitempty"`
	// RequestsPerSecond is the arrival rate over all generators; 0 in the closed model. RampToRequestsPerSecond is the rate at the end of
	// the cell; 0 if it is constant.
	RequestsPerSecond       int32 `json:"requestsPerSecond,omitempty"`
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
	// Step is the step of a search, from 1; 0 outside a search. Its rate is found while the trial runs.
	Step   int32   `json:"step,omitempty"`
	Search *Search `json:"search,omitempty"`
	// Generators is the number of generators that share the cell equally, Threads the number of threads of the tool in each; 1 at least, both.
	Generators int32         `json:"generators"`
	Threads    int32         `json:"threads"`
	Connection ConnectionUse `json:"connection"`
	// Script is a program of the user's that makes the requests; nil if there is none.
	Script *Script `json:"script,omitempty"`
	// Request is the one request of the cell; it has no path where there is a Mix. Requests has either.
	Request Request `json:"request,omitzero"`
	// Mix are the requests of a cell that has several.
	Mix []MixedRequest `json:"mix,omitempty"`
	// WarmupSeconds is how long the level is loaded before it is measured, DurationSeconds for how long it is measured.
	WarmupSeconds   int32 `json:"warmupSeconds"`
	DurationSeconds int32 `json:"durationSeconds"`
	// Order is SlicedDuet where two servers share the cell's time in slices, each for the whole of the times above; empty otherwise.
	Order Order `json:"order,omitempty"`
}

// MixedRequest is one of the requests of a cell.
type MixedRequest struct {
	Request
	// Weight is the request's part of all requests of the cell, related to the sum of the weights.
	Weight int32 `json:"weight"`
}

// Requests are what a cell asks for: the requests of its mix, or its one request.
func (c Cell) Requests() []MixedRequest {
	if len(c.Mix) > 0 {
		return c.Mix
	}
	return []MixedRequest{{Request: c.Request, Weight: 1}}
}

// Protocol is the version of HTTP that all requests of the cell are sent in. Of a script's requests the cell's one request says it.
func (c Cell) Protocol() Protocol { return c.Requests()[0].Protocol }

// Speaking returns the cell with all its requests in a version of HTTP.
func (c Cell) Speaking(p Protocol) Cell {
	c.Request.Protocol, c.Mix = p, slices.Clone(c.Mix)
	for i := range c.Mix {
		c.Mix[i].Protocol = p
	}
	return c
}

// InFlight is how many requests can be in flight at once.
func (c Cell) InFlight() int64 { return int64(c.Connections) * int64(max(c.StreamsPerConnection, 1)) }

// EarlierRun is a run that an objective of a later one names. Data is nil if it could not be read, and Error says why.
type EarlierRun struct {
	Data  *RunData
	Error string
}
