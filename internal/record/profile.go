package record

import (
	"time"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
)

// Profile is a profiler under which implementations are run when all blocks have been measured.
type Profile struct {
	Name string        `json:"name"`
	Tool profiler.Tool `json:"tool"`
	// Request is what is asked of the server, Requests how often, and Connections how many connections share that.
	Request     Request `json:"request"`
	Requests    int32   `json:"requests"`
	Connections int32   `json:"connections"`
	// Repeats is how often everything is done.
	Repeats int32 `json:"repeats"`
	// LimitSeconds is how long the trial of one implementation may take.
	LimitSeconds int32 `json:"limitSeconds"`
}

// Counts are the numbers of requests of the launches of a trial, one after the other.
func (p Profile) Counts() []int64 {
	once := []int64{int64(p.Requests)}
	if p.Tool.Counts() {
		once = append(once, 2*int64(p.Requests))
	}
	var all []int64
	for range p.Repeats {
		all = append(all, once...)
	}
	return all
}

// Profiled is what a profiler has found of one implementation.
type Profiled struct {
	// Tool is the profiler that was used, and Remarks say why it is not the one that was asked for, where it is not.
	Tool    profiler.Tool     `json:"tool"`
	Remarks []profiler.Remark `json:"remarks,omitempty"`
	// Launches are those of the program under the profiler, one after the other.
	Launches []Launch `json:"launches"`
	// Flame are the stacks of the last launch; nil of a profiler that knows no calls.
	Flame *callgrind.Graph `json:"flame,omitempty"`
	// Cut says why launches are missing; empty if none is.
	Cut string `json:"cut,omitempty"`
}

// Launch is one launch of a program under a profiler.
type Launch struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// FirstAnswerMillis is how long it took from the start of the profiler to the first right answer; 0 if none came.
	FirstAnswerMillis int64 `json:"firstAnswerMillis,omitempty"`
	// Asked is the number of requests that were sent, and Wrong how many of them were not answered rightly; Example says in a sentence what was
	// wrong with the first of these.
	Asked   int64  `json:"asked"`
	Wrong   int64  `json:"wrong,omitempty"`
	Example string `json:"example,omitempty"`
	// Killed is true of a program that did not end when it was told to.
	Killed bool `json:"killed,omitempty"`
	// OutOfMemory is true of one that the kernel has killed because it exceeded the memory of its container.
	OutOfMemory bool `json:"outOfMemory,omitempty"`
	// TimedOut is true of one that the limit of its trial has ended before it was told to.
	TimedOut bool `json:"timedOut,omitempty"`
	// Said is the end of the program's standard error, in one line; empty if it ended well.
	Said string `json:"said,omitempty"`
	profiler.Result
	// Files are the names of what the profiler wrote, as they are stored.
	Files []string `json:"files,omitempty"`
}
