// Package analysis turns the records of a run into the table that every report is printed from: the measurements,
// how far each number can be trusted, and which implementation is better, in what and by how much.
//
// It is pure: it reads record.RunData and no clock or file, and formats nothing. Field names state units; package
// report adds words and display units. Each package below knows only those above it:
//
//	planned     the plan
//	measured    the facts of a cell, and its latencies
//	validity    how far a cell can be trusted
//	verdict     which is better, and by how much
//	capacity    what searches found
//	scaling     where the throughput stops rising
//	objectives  whether bounds are met
//
// # Duets
//
// In a duet, two servers share one CPU and take turns under one load. Its trial is first split into two trials of the
// same block. Throughput relates to the tool's running time. Duets have no latencies, since those of a
// frozen tool include the frozen time.
//
// # Noise floor
//
// An A/A run compares two equal contenders. It shows which differences a machine produces by itself.
package analysis
