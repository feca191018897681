package record

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Types that a plan takes from the spec.
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
	// Protocol is empty for HTTP/1.1 and its tools' variants; a plan never holds v1alpha1.ProtocolHTTP1.
	Protocol = v1alpha1.Protocol
)

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
	Auto            = v1alpha1.FormatAuto
	GoTest          = v1alpha1.FormatGoTest
	JSONLines       = v1alpha1.FormatJSONLines
	TimeOnly        = v1alpha1.FormatTime
)

// Percentiles are the comparable latency percentiles, ascending.
var Percentiles = []string{"50", "90", "95", "99", "99.9"}

// Plan is the spec of a run with every default filled in.
type Plan struct {
	Seed  uint64 `json:"seed"`
	Order Order  `json:"order"`
	// Mirrored: every second block reverses the order of implementations and levels of the block before it. False in
	// older plans, whose levels keep the order of Cells.
	Mirrored bool `json:"mirrored,omitempty"`
	// Blocks does not count repeats.
	Blocks          int32            `json:"blocks"`
	Implementations []Implementation `json:"implementations"`
	Baseline        string           `json:"baseline"`
	Loads           []Load           `json:"loads"`
	// Generators suffice for the largest load.
	Generators Generators `json:"generators"`
	Placement  Placement  `json:"placement"`
	Validity   Validity   `json:"validity"`
	// LatencyPercentiles are the compared ones of Percentiles; none in a duet.
	LatencyPercentiles []string `json:"latencyPercentiles"`
	// MaxWidth is the interval width that lets the run end early, as a decimal share; empty for none. Interim are the blocks after which this is
	// checked.
	MaxWidth   string         `json:"maxWidth,omitempty"`
	Interim    []int32        `json:"interim,omitempty"`
	Objectives []Objective    `json:"objectives,omitempty"`
	Cells      []Cell         `json:"cells"`
	Trials     []PlannedTrial `json:"trials"`
	// Programs is nil if the run puts load on servers.
	Programs *Programs `json:"programs,omitempty"`
	// Profiles are made after all blocks.
	Profiles []Profile `json:"profiles,omitempty"`
	// Following are the trials after the blocks; they affect no verdict.
	Following []PlannedTrial `json:"following,omitempty"`
	// Notes state every default and decision in a sentence.
	Notes []string `json:"notes"`
	// TrialSeconds is the planned time of one trial from first to last cell; TimeoutSeconds bounds the run.
	TrialSeconds   float64 `json:"trialSeconds"`
	TimeoutSeconds int32   `json:"timeoutSeconds"`
}

// WholeTrials reports whether the trials have no cells, so each counts as one.
func (p Plan) WholeTrials() bool { return len(p.Cells) == 0 }

// Note adds a sentence on a default or a decision.
func (p *Plan) Note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// Implementation returns an implementation by name. It panics if the plan lacks it.
func (p Plan) Implementation(name string) Implementation {
	i := slices.IndexFunc(p.Implementations, func(i Implementation) bool { return i.Name == name })
	return p.Implementations[i]
}

// Implementation is one measured server.
type Implementation struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// Command is the argument vector; empty means the image's own.
	Command []string `json:"command,omitempty"`
	Port    int32    `json:"port"`
	// TLS is nil for plain HTTP.
	TLS *TLS `json:"tls,omitempty"`
	// CPUs is the number of exclusive CPUs.
	CPUs        int32 `json:"cpus"`
	MemoryBytes int64 `json:"memoryBytes"`
	Role        Role  `json:"role"`
	// Build is the expected build.
	Build Expectations `json:"build,omitzero"`
	// Claims are checked statements; they fail nothing.
	Claims    []Claim   `json:"claims,omitempty"`
	Container Container `json:"container,omitzero"`
	// StopSignal ends its process; empty means SIGTERM.
	StopSignal string `json:"stopSignal,omitempty"`
	// Dependencies start in this order.
	Dependencies []Dependency `json:"dependencies,omitempty"`
}

// Programs is how programs that measure themselves run.
type Programs struct {
	Format       CaseFormat `json:"format"`
	LimitSeconds int32      `json:"limitSeconds"`
	// Outputs are for implementations with another format or other case names.
	Outputs []ProgramOutput `json:"outputs,omitempty"`
}

// Output returns how an implementation prints its cases.
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
	// Cases rename printed cases; the first match counts.
	Cases []CaseName `json:"cases,omitempty"`
}

// Load is one sweep of a run; its levels are cells.
type Load struct {
	Name string `json:"name"`
	// Weight is for the verdict over all loads; 0 if there is none.
	Weight float64 `json:"weight,omitempty"`
}

// Generators is where a load comes from.
type Generators struct {
	// Pods is the number of generators that share each level equally, CPUs the whole CPUs of each.
	Pods int32 `json:"pods"`
	CPUs int32 `json:"cpus"`
}

// Placement restricts the CPUs and nodes of a run.
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
	// Block counts from 1; 0 for a trial after all blocks.
	Block int32 `json:"block"`
	// Type is the kind of work.
	Type WorkType `json:"type"`
	// Servers names the measured implementations: one, or two in a duet.
	Servers []string `json:"servers"`
	// Item is the spec item that the trial serves, such as a profile; empty for a trial of a block. (The JSON name
	// dates from when only profiles followed the blocks.)
	Item string `json:"profile,omitempty"`
}

// Follows reports whether the trial comes after all blocks.
func (t PlannedTrial) Follows() bool { return t.Block == 0 }

// MaxCellSeconds and MaxRate (requests/s) are the API's bounds.
const MaxCellSeconds, MaxRate = 3600, 1_000_000

// Cell is one level of one load, measured once in a trial.
type Cell struct {
	Load string `json:"load"`
	Tool Tool   `json:"tool"`
	// Connections is the number of open connections over all generators.
	Connections int32 `json:"connections"`
	// StreamsPerConnection is the number of requests in flight per connection; 0 means 1.
	StreamsPerConnection int32 `json:"streamsPerConnection,omitempty"`
	// RequestsPerSecond is the arrival rate over all generators; 0 in the closed model. RampToRequestsPerSecond is
	// the rate at the end; 0 if constant.
	RequestsPerSecond       int32 `json:"requestsPerSecond,omitempty"`
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
	// Step is a search's step, from 1; 0 outside a search. Its rate is found during the trial.
	Step   int32   `json:"step,omitempty"`
	Search *Search `json:"search,omitempty"`
	// Generators share the cell equally, Threads is each tool's threads; both at least 1.
	Generators int32         `json:"generators"`
	Threads    int32         `json:"threads"`
	Connection ConnectionUse `json:"connection"`
	Script     *Script       `json:"script,omitempty"`
	// Request is the cell's only request; it has no path if there is a Mix. Use Requests.
	Request Request `json:"request,omitzero"`
	// Mix holds several requests.
	Mix []MixedRequest `json:"mix,omitempty"`
	// WarmupSeconds precede the DurationSeconds that are measured.
	WarmupSeconds   int32 `json:"warmupSeconds"`
	DurationSeconds int32 `json:"durationSeconds"`
	// Order is SlicedDuet if two servers share the cell in slices, each for the times above; empty otherwise.
	Order Order `json:"order,omitempty"`
}

// MixedRequest is one of a cell's requests.
type MixedRequest struct {
	Request
	// Weight is relative to the sum of the weights.
	Weight int32 `json:"weight"`
}

// Requests returns the requests of the mix, or the only one.
func (c Cell) Requests() []MixedRequest {
	if len(c.Mix) > 0 {
		return c.Mix
	}
	return []MixedRequest{{Request: c.Request, Weight: 1}}
}

// Protocol returns the HTTP version of all the cell's requests; for a script, Request holds it.
func (c Cell) Protocol() Protocol { return c.Requests()[0].Protocol }

// Speaking returns the cell with all requests in an HTTP version.
func (c Cell) Speaking(p Protocol) Cell {
	c.Request.Protocol, c.Mix = p, slices.Clone(c.Mix)
	for i := range c.Mix {
		c.Mix[i].Protocol = p
	}
	return c
}

// InFlight returns the most requests in flight at once.
func (c Cell) InFlight() int64 { return int64(c.Connections) * int64(max(c.StreamsPerConnection, 1)) }

// EarlierRun is a run that an objective names. Data is nil if it could not be read; Error says why.
type EarlierRun struct {
	Data  *RunData
	Error string
}
