// Package conduct leads a run: it decides from the facts of one instant what comes next.
//
// A Run tells which trials are needed, when interim analyses are due, which blocks are repeated, and whether and why
// it has ended.
//
// The package is pure: backends fill in facts, ask, and act. Answers do not depend on the order of the trials, and
// only the facts carry state.
package conduct
