// Package room is the place in a cluster in which trials are measured: its nodes, the pods that still hold their CPUs, and who reaches the pods of a
// run.
package room
