// Package cluster measures Loadstone as it is installed: how long a run takes to begin (start), how much time it loses between trials and
// between cells (sweep), what measuring through it costs (pairs), how far apart its generators start and what its agents use (generators),
// and what its operator needs when idle (memory).
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
// The objects that it made are deleted, however it ends. The artifacts of its runs stay in the object store, under bench/, since nothing of
// Loadstone deletes artifacts.
package cluster
