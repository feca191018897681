package record

import (
	"time"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
)

// Profile is a profiler for implementations after all blocks.
type Profile struct {
	Name string        `json:"name"`
	Tool profiler.Tool `json:"tool"`
	// Requests is how often Request is sent, over Connections connections.
	Request     Request `json:"request"`
	Requests    int32   `json:"requests"`
	Connections int32   `json:"connections"`
	Repeats     int32   `json:"repeats"`
	// LimitSeconds bounds one implementation's trial.
	LimitSeconds int32 `json:"limitSeconds"`
}

// Counts returns the number of requests of each launch, in order.
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

// Profiled is a profiler's result for one implementation.
type Profiled struct {
	// Tool is the profiler used; Remarks say why it differs from the requested one.
	Tool     profiler.Tool     `json:"tool"`
	Remarks  []profiler.Remark `json:"remarks,omitempty"`
	Launches []Launch          `json:"launches"`
	// Flame holds the stacks of the last launch; nil if the profiler knows no calls.
	Flame *callgrind.Graph `json:"flame,omitempty"`
	// Cut says why launches are missing; empty if none is.
	Cut string `json:"cut,omitempty"`
}

// Launch is one launch of a program under a profiler.
type Launch struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// FirstAnswerMillis is from the profiler's start to the first right answer; 0 if none came.
	FirstAnswerMillis int64 `json:"firstAnswerMillis,omitempty"`
	// Asked counts requests sent, Wrong those answered wrongly; Example describes the first wrong one.
	Asked   int64  `json:"asked"`
	Wrong   int64  `json:"wrong,omitempty"`
	Example string `json:"example,omitempty"`
	// Killed: the program did not end when told to.
	Killed bool `json:"killed,omitempty"`
	// OutOfMemory: the kernel killed it for exceeding its container's memory.
	OutOfMemory bool `json:"outOfMemory,omitempty"`
	// TimedOut: its trial's limit ended it early.
	TimedOut bool `json:"timedOut,omitempty"`
	// Said is the end of standard error in one line; empty if it ended well.
	Said string `json:"said,omitempty"`
	profiler.Result
	Files []string `json:"files,omitempty"`
}
