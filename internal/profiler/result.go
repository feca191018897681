package profiler

import (
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

type Run struct {
	Tool Tool `json:"tool"`
	// Requests counts right answers.
	Requests int64 `json:"requests"`
	// Unanswered counts other requests.
	Unanswered int64   `json:"unanswered,omitempty"`
	Exit       Exit    `json:"exit"`
	Program    Program `json:"program"`
}

// Result is a tool's result for a program. Only the run's own tool has findings.
type Result struct {
	Run
	// Processes counts the processes with files.
	Processes int                `json:"processes"`
	Memcheck  *Memory            `json:"memcheck,omitempty"`
	Massif    *massif.Result     `json:"massif,omitempty"`
	Costs     *Costs             `json:"costs,omitempty"`
	Calls     *SystemCalls       `json:"calls,omitempty"`
	Counters  []perfstat.Counter `json:"counters,omitempty"`
	Messages  []Messages         `json:"messages,omitempty"`
	// Limits are what the tool cannot see; Unread are missing or incomplete files.
	Limits []Remark `json:"limits,omitempty"`
	Unread []Unread `json:"unread,omitempty"`
	// Profiles are the full profiles behind Costs, for pictures; not stored.
	Profiles []callgrind.Profile `json:"-"`
}

// Memory is memcheck's result for all processes of a program.
type Memory struct {
	memcheck.Result
	Heap     memcheck.Heap `json:"heap"`
	Verdicts Verdicts      `json:"verdicts"`
}

// Costs are the most costly parts of callgrind or cachegrind profiles.
type Costs struct {
	Events []string       `json:"events"`
	Total  callgrind.Cost `json:"total"`
	// Most is the total of the most costly process.
	Most callgrind.Cost `json:"most"`
	// Self, Inclusive and Lines have the highest cost of the first event, in the most costly process.
	Self      []callgrind.Function `json:"self"`
	Inclusive []callgrind.Function `json:"inclusive"`
	Lines     []callgrind.Line     `json:"lines"`
	// Calls are the most costly between two functions, callees included; none for cachegrind.
	Calls []callgrind.Edge `json:"calls,omitempty"`
}

// Unread is an unreadable or incomplete file.
type Unread struct {
	File string `json:"file"`
	Why  string `json:"why"`
}
