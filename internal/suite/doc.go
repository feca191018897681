// Package suite decides what a BenchmarkSuite does next: which runs to create and delete, and its status. It is a
// pure function of the suite, its runs, the digests behind its tags, the reports that it requests, and the time.
//
// A round is known by its runs alone: each carries the round's record, and its name follows from the suite, the
// inputs and the trigger. So anyone with the same facts can repeat a decision and still make one round. The status
// holds only what runs cannot: outcomes of deleted rounds, and answered times and requests.
package suite
