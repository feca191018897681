// Package conduct leads a run: it decides, from what is known at one instant, what comes next.
//
// A Run answers which trials are needed, when the interim analysis is due, which blocks were disturbed and are repeated, and whether and
// why the run has ended. A View tells a trial whether to go on, wait or give up. An Attempt tells whether a wait has lasted too long,
// and whether a Failure, of the implementation or of the infrastructure, is followed by another attempt.
//
// The package is pure. It asks no cluster, no store and no clock: backends fill in facts, ask, and act. The order in which they found
// out about trials makes no difference to any answer, and nothing is remembered between two questions but what the facts hold.
package conduct
