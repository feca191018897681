// Package reexec holds the processes in which a run on one machine starts its own program again, and how it starts, asks and ends them.
//
// An agent is this program in a process of its own, as it is a container on a cluster: so the CPU time that it reports is its own, and its
// memory and its garbage collector are not the conductor's. It does commands that come through a pipe (agent.ServePipe), without a port and
// without signatures. An implementation runs below a keeper: the end of the keeper's pipe, however the conductor ends, makes the keeper end
// the implementation and everything that it has started. A program that measures itself has a parent that starts it on time.
package reexec
