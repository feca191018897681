// Package analysis turns what a run has left behind into the table from which every report is printed: what was measured, how far
// each number can be believed, and which is better, in what and by how much.
//
// It is pure: it reads record.RunData, and neither formats, nor draws, nor reads a clock or a file. Words, units of display and
// pictures are the business of package report; here numbers have the unit that their field's name says. What the numbers mean is said below
// it, each part by a package that knows nothing of the next:
//
//	planned     what was to be measured
//	latency     which latencies are known
//	validity    what a cell is, and how far it can be believed
//	verdict     which is better, and by how much
//	capacity    what searches have found
//	scaling     where the throughput stops rising
//	objectives  whether bounds are met
//
// Most of their arithmetic is in inference.
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
