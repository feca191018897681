// Package leader stops an operator from writing after its lease may have passed to another one. Election alone does not:
// a stopped operator that wakes up continues with its next write until its elector notices.
package leader
