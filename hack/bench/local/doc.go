// Package local runs servers and load generators on this machine without a cluster, each pinned to a CPU, over loopback, and reads
// what they use. The programs record and workloads measure with it.
//
// A child dies with the program that started it, but only if it was started by the main thread: call runtime.LockOSThread first.
// The package decides nothing: it does not know what a figure is, nor when a measurement is good.
package local
