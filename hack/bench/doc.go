// Program bench measures Loadstone itself on a cluster: how long a run takes to begin, how much time it loses between trials and
// between cells, what measuring through it costs, and what its operator needs when idle.
//
// A line a figure goes to standard output, tab-separated: name, value, unit, aim, "met" or "short", and a note. Progress, and
// where the time goes, go to standard error.
//
// # What is called load
//
// All instants are in the operator's clock; agents' clocks are corrected by the offsets in the manifests, and the clock of this
// program must agree with the operator's. Load runs from the instant at which a tool is started. A measured tool ends its load
// after the time that it says itself that it ran; the rest of its life, in which it writes its histogram, is no load. A warm-up
// is load: it runs from its planned instant, later by as much as the measured tool of its cell was, until it is killed. The first
// request is told by the start of the first tool.
//
// # By hand
//
// The figure "throughput-against-wrk-by-hand" compares in one and the same pair of pods. A trial is held when its pods exist, by a
// pod that never runs but counts as measured, since the operator lets no load begin beside another measured pod. While it waits,
// wrk is executed in its generator pod, as a person would, and then the trial goes on. So process, CPUs and minute are the same,
// and what is left is Loadstone.
//
// # Without the cluster
//
// The measurements merging, verdicts, power, regression and duet try the statistics. Verdicts, power and duet draw from testdata/aa-blocks.json,
// pairs of equal servers that hack/bench/record measured on one machine; blocks in which Loadstone would void a cell are left out. A run is drawn
// from a world (world.go), in which it is known which contender truly differs from the shared baseline, at which level and by how much; the real
// rules decide it, and truth.go holds every sentence about a winner, and every interval, against that. Latencies are not recorded: that of the median
// mirrors the throughput, and that of p99 is normal. Regression draws from normal noise alone.
//
// The program deletes the objects that it made, however it ends. The artifacts of its runs stay in the object store, under
// bench/, since nothing of Loadstone deletes artifacts. It compares no versions and keeps no history.
package main
