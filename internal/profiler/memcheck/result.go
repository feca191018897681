package memcheck

import (
	"slices"
	"strings"
)

// Result is memcheck's result for one process.
type Result struct {
	// Version is valgrind's, such as "3.19.0".
	Version  string   `json:"version,omitempty"`
	Command  []string `json:"command,omitempty"`
	Finished bool     `json:"finished"`
	// Signal ended the program, such as "SIGTERM", or empty.
	Signal string `json:"signal,omitempty"`
	// Errors are in order of first occurrence, one per context.
	Errors []Error `json:"errors,omitempty"`
	Leaks  []Leak  `json:"leaks,omitempty"`
	// Suppressed counts errors hidden by memcheck's list of known library errors.
	Suppressed int64 `json:"suppressed,omitempty"`
}

// Error is one context of an error: a kind at a stack.
type Error struct {
	// Kind is memcheck's name, such as UninitCondition or InvalidRead.
	Kind  string  `json:"kind"`
	What  string  `json:"what"`
	Count int64   `json:"count"`
	Stack []Frame `json:"stack,omitempty"`
	// Origin is memcheck's extra information, such as where an uninitialized value was created; or nil.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin is the source of an error.
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

// Leak is memory allocated at one stack and not freed.
type Leak struct {
	Kind   LeakKind `json:"kind"`
	Bytes  int64    `json:"bytes"`
	Blocks int64    `json:"blocks"`
	Stack  []Frame  `json:"stack,omitempty"`
}

// Lost reports whether the program can no longer free the memory. Reachable memory is not lost.
func (l Leak) Lost() bool { return l.Kind == DefinitelyLost || l.Kind == IndirectlyLost }

// Frame is one function on a stack. Unknown symbols are empty.
type Frame struct {
	Address  string `json:"address,omitempty"`
	Object   string `json:"object,omitempty"`
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Site returns the innermost frame of the program itself: not memcheck's replacements, and with a line if any has one.
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
