// Package notifications tells the sinks of suites how rounds have ended. It has a reconciler of its own, so that no sink holds up a round: it looks
// at the suite's history, asks package notice who is to be told of what, posts the events, and writes down on the suite what became of them.
//
// An event is posted before it is written down that it was: an operator that dies in between posts it again, with the id that it had.
package notifications
