// Package local is the second backend of package conduct: it runs a benchmark on this machine. It starts processes on their CPUs where the
// operator creates pods, and uses a folder instead of the object store. Plan, agents, records and report are the same.
//
// Each process of a member is a child of this program; see package reexec. A file in the run's folder records progress, so that another
// process can resume a killed run.
//
// A member owns its CPUs. They are chosen once per run, set before the process starts, and verified by agents in every cell. Other programs
// can still use them: that is measured and judged in every cell, as on a cluster. Processes share network namespace and page cache. Notes in
// the run's manifest say what was shared.
package local
