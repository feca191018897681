package memcheck

import (
	"slices"
	"strings"
)

// Result is what memcheck found in one process.
type Result struct {
	// Version is valgrind's, such as "3.19.0".
	Version string `json:"version,omitempty"`
	// Command is the argument vector of the program.
	Command []string `json:"command,omitempty"`
	// Finished reports whether memcheck wrote its file to the end, with the leaks.
	Finished bool `json:"finished"`
	// Signal is what ended the program, such as "SIGTERM"; empty if it ended of its own accord.
	Signal string `json:"signal,omitempty"`
	// Errors are in the order in which memcheck met them, each context once.
	Errors []Error `json:"errors,omitempty"`
	Leaks  []Leak  `json:"leaks,omitempty"`
	// Suppressed is the number of errors that memcheck's list of known errors of libraries hid.
	Suppressed int64 `json:"suppressed,omitempty"`
}

// Error is one context of an error: a kind at a stack.
type Error struct {
	// Kind is memcheck's name, such as UninitCondition or InvalidRead.
	Kind string `json:"kind"`
	What string `json:"what"`
	// Count is how often the error happened here.
	Count int64   `json:"count"`
	Stack []Frame `json:"stack,omitempty"`
	// Origin is what memcheck tells beyond that, such as where a value was created that was never written; nil if it tells nothing.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin is where something that led to an error comes from.
type Origin struct {
	What  string  `json:"what"`
	Stack []Frame `json:"stack,omitempty"`
}

// LeakKind is how memory was lost.
type LeakKind string

// Kinds of leaks, as memcheck names them.
const (
	DefinitelyLost LeakKind = "Leak_DefinitelyLost"
	IndirectlyLost LeakKind = "Leak_IndirectlyLost"
	PossiblyLost   LeakKind = "Leak_PossiblyLost"
	StillReachable LeakKind = "Leak_StillReachable"
)

// Leak is memory that was allocated at one stack and not freed.
type Leak struct {
	Kind   LeakKind `json:"kind"`
	Bytes  int64    `json:"bytes"`
	Blocks int64    `json:"blocks"`
	Stack  []Frame  `json:"stack,omitempty"`
}

// Lost reports whether the program can no longer free the memory. What is still reachable at the end is not lost.
func (l Leak) Lost() bool { return l.Kind == DefinitelyLost || l.Kind == IndirectlyLost }

// Frame is one function on a stack. What the program's symbols do not tell is empty.
type Frame struct {
	Address  string `json:"address,omitempty"`
	Object   string `json:"object,omitempty"`
	Function string `json:"function,omitempty"`
	// File is the path of the source file, and Line a line in it, from 1.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Site is the innermost frame of a stack that is the program's own: not that of memcheck's replacements, and with a line if any has one.
func Site(stack []Frame) Frame {
	own := slices.DeleteFunc(slices.Clone(stack), func(f Frame) bool { return strings.Contains(f.Object, "/vgpreload_") })
	if i := slices.IndexFunc(own, func(f Frame) bool { return f.Line > 0 }); i >= 0 {
		return own[i]
	}
	if len(own) == 0 {
		return Frame{}
	}
	return own[0]
}

// LeaksByKind adds up the leaks of each kind.
func (r Result) LeaksByKind() map[LeakKind]Leak {
	sums := map[LeakKind]Leak{}
	for _, l := range r.Leaks {
		sum := sums[l.Kind]
		sums[l.Kind] = Leak{Kind: l.Kind, Bytes: sum.Bytes + l.Bytes, Blocks: sum.Blocks + l.Blocks}
	}
	return sums
}
