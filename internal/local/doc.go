// Package local leads a run on this machine: the second backend of package conduct. Where the cluster's backend has pods, it has processes,
// and a folder in the place of the object store. Plan, agents, records, validity and report are the same.
//
// Each process of a member is a child of this program: an agent, an implementation below its keeper (package helper).
//
// How far a run is stands in a file of its folder, so that another process can go on with a run whose process was killed: see package
// runfolder and Run.restore.
//
// What a member owns here is its CPUs. They are chosen once a run, set before the process begins, read back by the agents in every cell,
// and given to no other process of the run. Other programs of the machine are not kept off them: what they use is measured in every cell
// and judged as on a cluster. Where the machine permits it, a server and a generator have a cgroup, too (package cgroup), and a server a limit
// of memory. Processes share the network namespace and the page cache. The run's manifest says in its notes what was shared.
package local
