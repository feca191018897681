// Package notifications tells the sinks of suites how rounds have ended. It has a reconciler of its own, so that no sink holds up a round: it looks
// at the suite's history, asks package notify who is to be told of what, posts events or tells GitHub or GitLab, and writes down on the suite what became of
// them.
//
// A sink is told before it is written down that it was: an operator that dies in between tells it again. An event then has the id that it had, and
// a forge replaces what it was told.
package notifications
