// Package objectives compares the values of a run with the bounds that its spec sets.
//
// An objective is Met if the whole interval of its value meets the bound, Missed if the whole interval breaks it, Undecided
// otherwise. A throughput of a limited generator has no upper end, a latency of a busy one no lower end. An implementation that
// itself failed meets nothing; its errors count in ErrorRate, over void cells too. A Regression divides out the drift of
// the machine through an anchor, which must be the same image, command and CPUs in all runs; from three earlier runs on, the spread between them
// is its error.
package objectives
