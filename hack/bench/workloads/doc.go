// Program workloads measures the reference workloads of workloads/ against their peers, on this machine, without a cluster.
//
//	make bench-workloads
//
// It prints a line a figure, as hack/bench does: name, value, unit, aim, verdict and note. The comparisons are the table in table.go.
//
// # How a figure comes about
//
// A cell is one program under one load for a second or more: a fresh server on CPU 1 under wrk, ab or a client of this program's on
// CPU 0, or a micro-benchmark that says itself what it did. Cells that are compared form a set. In each block every set is measured
// once, its cells one right after the other, and the order of both is random. A ratio is that of two cells of one block; a figure
// is the geometric mean of the blocks' ratios, with the interval of the paired t on their logs.
//
// A set during which others used the machine, or a tool counted errors, is measured anew, a few times at most. Every cell is
// written to a file first, also those that were dropped, and what is printed is derived from that file.
//
// # What a cell of a micro-benchmark is
//
//	NAME-bench cell CASE --seconds 1
//
// prints one line: {"case":"CASE","operations":123,"wallSeconds":1.01,"cpuSeconds":1.0}. Its warm-up, and the check of what it did, lie
// outside of these times. A status other than 0 says that the check failed.
package main
