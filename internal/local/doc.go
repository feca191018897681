// Package local is the second backend of package conduct: it runs a benchmark on this machine. Where the operator creates pods, it
// starts processes on their CPUs. Where the operator uses the object store, it uses a folder. Plan, agents, records and report are the same.
//
// Each process of a member is a child of this program; see package reexec. A file in the folder of the run records the progress, so
// that another process can resume a killed run; see package folders and Run.restore.
//
// A member owns its CPUs. They are chosen once per run, set before the process starts, and read back by the agents in every cell. Other
// programs can still use these CPUs: their use is measured and judged in every cell, as on a cluster. Where the machine allows it, a
// server and a generator have a cgroup (package cgroup), and a server a memory limit. Processes share the network namespace and the
// page cache. The notes of the run's manifest say what was shared.
package local
