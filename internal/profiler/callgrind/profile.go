package callgrind

import (
	"cmp"
	"slices"
)

// Profile is callgrind's profile of one process.
type Profile struct {
	Command string `json:"command,omitempty"`
	// Events name the counts of every Cost, in order.
	Events    []string   `json:"events"`
	Total     Cost       `json:"total"`
	Functions []Function `json:"functions"`
	Calls     []Call     `json:"calls,omitempty"`
	// Lines are own costs by line, inlined code included.
	Lines []Line `json:"lines,omitempty"`
}

// Cost is a count of each event.
type Cost []int64

// At returns an event's count; 0 if absent.
func (c Cost) At(event int) int64 {
	if event >= len(c) {
		return 0
	}
	return c[event]
}

// Plus adds the costs of two processes.
func (c Cost) Plus(o Cost) Cost {
	sum := make(Cost, max(len(c), len(o)))
	add(&sum, c)
	add(&sum, o)
	return sum
}

// Function is one function of the program or of a library.
type Function struct {
	// Name is an address if symbols are missing.
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Object string `json:"object,omitempty"`
	// Self is its own cost; Inclusive includes its callees. Functions in a cycle share the cycle's inclusive cost, and are Recursive.
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

// Line is a source line within one function.
type Line struct {
	Function int    `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Self     Cost   `json:"self"`
}

// Event returns the index of an event, and whether it was counted.
func (p Profile) Event(name string) (int, bool) {
	i := slices.Index(p.Events, name)
	return i, i >= 0
}

// TopSelf returns at most n functions with the highest own cost of an event.
func (p Profile) TopSelf(event, n int) []Function {
	return top(p.Functions, n, func(f Function) int64 { return f.Self.At(event) })
}

// TopInclusive returns at most n functions with the highest inclusive cost of an event.
func (p Profile) TopInclusive(event, n int) []Function {
	return top(p.Functions, n, func(f Function) int64 { return f.Inclusive.At(event) })
}

// TopLines returns at most n lines with the highest cost of an event.
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

// TopCalls returns at most n calls with the highest inclusive cost of an event, without recursive ones.
func (p Profile) TopCalls(event, n int) []Edge {
	var out []Edge
	between := slices.DeleteFunc(slices.Clone(p.Calls), func(c Call) bool { return c.From == c.To })
	for _, c := range top(between, n, func(c Call) int64 { return c.Inclusive.At(event) }) {
		out = append(out, Edge{From: p.Functions[c.From].Name, To: p.Functions[c.To].Name, Count: c.Count, Inclusive: c.Inclusive})
	}
	return out
}

// top sorts stably by descending cost and drops zeros.
func top[T any](all []T, n int, cost func(T) int64) []T {
	some := slices.DeleteFunc(slices.Clone(all), func(t T) bool { return cost(t) <= 0 })
	slices.SortStableFunc(some, func(a, b T) int { return cmp.Compare(cost(b), cost(a)) })
	return some[:min(n, len(some))]
}
