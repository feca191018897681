package callgrind

import (
	"cmp"
	"slices"
)

// Profile is what callgrind saw of one process.
type Profile struct {
	Command string `json:"command,omitempty"`
	// Events are the names of what is counted, in the order of every Cost.
	Events []string `json:"events"`
	Total  Cost     `json:"total"`
	// Functions are in the order in which the file names them.
	Functions []Function `json:"functions"`
	Calls     []Call     `json:"calls,omitempty"`
	// Lines are costs by line, of the functions' own code, code that was inlined included.
	Lines []Line `json:"lines,omitempty"`
}

// Cost is a count of each event.
type Cost []int64

// At is the count of the event of an index; 0 where the file does not say.
func (c Cost) At(event int) int64 {
	if event >= len(c) {
		return 0
	}
	return c[event]
}

// Plus is the cost of two processes of one program.
func (c Cost) Plus(o Cost) Cost {
	sum := make(Cost, max(len(c), len(o)))
	add(&sum, c)
	add(&sum, o)
	return sum
}

// Function is one function of the program or of a library.
type Function struct {
	// Name is an address where symbols are missing.
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Object string `json:"object,omitempty"`
	// Self is the cost of its own code, Inclusive that of what it calls, too. Functions that call each other in a circle share the inclusive
	// cost of the circle, and are Recursive.
	Self      Cost `json:"self"`
	Inclusive Cost `json:"inclusive"`
	Recursive bool `json:"recursive,omitempty"`
}

// Call is an edge of the call graph, between two indices of Functions.
type Call struct {
	From      int   `json:"from"`
	To        int   `json:"to"`
	Count     int64 `json:"count"`
	Inclusive Cost  `json:"inclusive"`
}

// Line is a line of source, as it is part of one function.
type Line struct {
	Function int    `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Self     Cost   `json:"self"`
}

// Event is the index of the event of a name, and whether it was counted.
func (p Profile) Event(name string) (int, bool) {
	i := slices.Index(p.Events, name)
	return i, i >= 0
}

// TopSelf are the functions with the highest cost of an event in their own code, n at most.
func (p Profile) TopSelf(event, n int) []Function {
	return top(p.Functions, n, func(f Function) int64 { return f.Self.At(event) })
}

// TopInclusive are the functions with the highest cost of an event, what they call included, n at most.
func (p Profile) TopInclusive(event, n int) []Function {
	return top(p.Functions, n, func(f Function) int64 { return f.Inclusive.At(event) })
}

// TopLines are the lines with the highest cost of an event, n at most.
func (p Profile) TopLines(event, n int) []Line {
	return top(p.Lines, n, func(l Line) int64 { return l.Self.At(event) })
}

// Edge is calls from one function to another, by name.
type Edge struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Count     int64  `json:"count"`
	Inclusive Cost   `json:"inclusive"`
}

// TopCalls are the calls with the highest inclusive cost of an event, n at most. Those of a function to itself are left out.
func (p Profile) TopCalls(event, n int) []Edge {
	var out []Edge
	between := slices.DeleteFunc(slices.Clone(p.Calls), func(c Call) bool { return c.From == c.To })
	for _, c := range top(between, n, func(c Call) int64 { return c.Inclusive.At(event) }) {
		out = append(out, Edge{From: p.Functions[c.From].Name, To: p.Functions[c.To].Name, Count: c.Count, Inclusive: c.Inclusive})
	}
	return out
}

// top sorts by a cost, the highest first; those of equal cost keep their order, and those of none are left out.
func top[T any](all []T, n int, cost func(T) int64) []T {
	some := slices.DeleteFunc(slices.Clone(all), func(t T) bool { return cost(t) <= 0 })
	slices.SortStableFunc(some, func(a, b T) int { return cmp.Compare(cost(b), cost(a)) })
	return some[:min(n, len(some))]
}
