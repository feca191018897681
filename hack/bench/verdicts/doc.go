// Package verdicts tries the statistics on runs whose truth is known, without a cluster: how often a run says anything false about a winner
// (verdicts), how often it finds what it calls detectable (power), how often an unchanged server is called changed (regression), and what
// taking turns is worth (duet).
//
// Verdicts, power and duet draw from testdata/aa-blocks.json, pairs of equal servers that hack/bench/record measured on one machine; blocks
// in which Loadstone would void a cell are left out. A run is drawn from a world (world.go), in which it is known which contender truly differs
// from the shared baseline, at which level and by how much; the real rules decide it, and truth.go holds every sentence about a winner, and every
// interval, against that. Latencies are not recorded: that of the median mirrors the throughput, and that of p99 is normal. Regression draws
// from normal noise alone.
package verdicts
