// Package plan compiles a BenchmarkRun into what is to be done: which trials, in which order, through which cells.
//
// Compile is a pure function: the same spec, name and UID give the same plan, byte for byte, and the plan's hash is its
// identity. Every default is filled in here and said in the plan's notes. The package performs no side effects and knows
// nothing of the cluster but what Fits is told of its nodes.
package plan
