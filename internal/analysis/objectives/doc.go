// Package objectives compares the values of a run with the bounds of its spec.
//
// An objective is Met if the whole interval meets the bound, Missed if the whole interval breaks it, otherwise
// Undecided. A limited generator leaves a throughput without upper end, a busy one a latency without lower end. A
// failed implementation meets nothing; its errors count in ErrorRate, also in void cells.
package objectives
