// Package reexec starts, asks and ends the processes of a local run that execute its own program again.
//
// An agent runs in its own process, like a container on a cluster: its CPU time, memory and garbage collector are separate from the
// conductor's. It obeys commands from a pipe (agent.ServePipe), without port and signatures. An implementation runs below a keeper: when the
// keeper's pipe ends, however the conductor ends, the keeper ends the implementation and all its children.
package reexec
