// Package suite decides what a BenchmarkSuite does next: which runs it creates and deletes, and what its status says. It is a function of the
// suite, of the runs that exist, of the digests behind its tags, of the reports that it asks for, and of the time.
//
// A round is known by its runs alone: each carries the record of its round, and its name follows from the suite, the inputs and what started the
// round. So a decision can be made again and again, by anybody who has seen as much, and makes one round. The status remembers only what runs
// cannot: the outcomes of rounds that were deleted, and which times and requests have been answered.
//
// It performs no side effects, and asks no registry and no clock.
package suite
