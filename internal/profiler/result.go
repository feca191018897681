package profiler

import (
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

// Run is what is known of a run of a program under a tool beside what the tool wrote.
type Run struct {
	Tool Tool `json:"tool"`
	// Requests is the number of requests that were answered rightly.
	Requests int64 `json:"requests"`
	// Unanswered is the number of those that were not.
	Unanswered int64   `json:"unanswered,omitempty"`
	Exit       Exit    `json:"exit"`
	Program    Program `json:"program"`
}

// Result is what a tool saw of a program. Of the tools' findings, only those of the run's own tool are there.
type Result struct {
	Run
	// Processes is the number of processes that the tool wrote files of.
	Processes int                `json:"processes"`
	Memcheck  *Memory            `json:"memcheck,omitempty"`
	Massif    *massif.Result     `json:"massif,omitempty"`
	Costs     *Costs             `json:"costs,omitempty"`
	Calls     *SystemCalls       `json:"calls,omitempty"`
	Counters  []perfstat.Counter `json:"counters,omitempty"`
	Messages  []Messages         `json:"messages,omitempty"`
	// Limits are what the tool cannot see, and Unread the files that are missing, or that it did not write to their end.
	Limits []Remark `json:"limits,omitempty"`
	Unread []Unread `json:"unread,omitempty"`
	// Profiles are the whole ones that Costs sums up, for pictures; they are not stored.
	Profiles []callgrind.Profile `json:"-"`
}

// Memory is what memcheck saw of all processes of a program.
type Memory struct {
	memcheck.Result
	Heap     memcheck.Heap `json:"heap"`
	Verdicts Verdicts      `json:"verdicts"`
}

// Costs are the most costly parts of the profiles of callgrind or cachegrind.
type Costs struct {
	Events []string       `json:"events"`
	Total  callgrind.Cost `json:"total"`
	// Most is the total of the process that cost most.
	Most callgrind.Cost `json:"most"`
	// Self and Inclusive are the functions, and Lines the lines, with the highest cost of the first event, in the process that cost most.
	Self      []callgrind.Function `json:"self"`
	Inclusive []callgrind.Function `json:"inclusive"`
	Lines     []callgrind.Line     `json:"lines"`
	// Calls are those between two functions that cost most, callees included; none of cachegrind.
	Calls []callgrind.Edge `json:"calls,omitempty"`
}

// Unread is a file that could not be read, or not to its end.
type Unread struct {
	File string `json:"file"`
	Why  string `json:"why"`
}
