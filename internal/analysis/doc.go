// Package analysis turns what a run has left behind into the table from which every report is printed: what was measured, how far
// each number can be believed, and which is better, in what and by how much.
//
// It is pure: it reads record.RunData, formats nothing, draws nothing, and reads no clock or file. Numbers have the unit in their
// field's name; words and units of display belong to package report. Each package below knows only those above it in this list:
//
//	planned     what was to be measured
//	measured    what is known about a cell, and which latencies
//	validity    how far a cell can be trusted
//	verdict     which is better, and by how much
//	capacity    what searches found
//	scaling     where the throughput stops rising
//	objectives  whether bounds are met
//
// Most of their arithmetic is in package inference.
//
// # Duets
//
// A trial of a duet holds two servers that shared one CPU and took turns under one load. It is read as two trials of the same block,
// one of each, before anything else is done. Throughput is related to the time for which the tool was let run. It has no latencies:
// those of a tool that is frozen hold the time for which it was.
//
// # Noise floor
//
// An A/A run, in which two contenders are the same thing, says which differences a machine shows where there are none.
package analysis
