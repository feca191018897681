// Package notifications reports how rounds ended to the sinks of suites. It is a separate reconciler, so that no sink delays a round.
//
// It records only after sending: an operator that dies in between sends again. A repeated event has the same id, and a forge replaces its
// status.
package notifications
