// Package validity says how far each cell of a run can be believed. A cell is one level of one load in one trial, and a trial is one fresh
// process. What is known of it is read by internal/analysis/measured; here are the thresholds, and what they stand for.
//
// Every cell is Valid, Suspect or Void, by the checks whose list is in validity.go. Those that need more than one cell, in
// crosschecks.go, come after all others, and mark but never void. A Void cell enters no mean, no distribution and no
// comparison, and is listed with its reasons; a Suspect cell enters all of them, and is marked.
//
// A server is accused only of what nobody else can have done: faults.go says which reasons are of an implementation's own making, which are
// external disturbances, and which may follow from those.
package validity
