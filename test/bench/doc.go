// Package bench holds benchmarks of Loadstone as a user runs it: on this machine (local_test.go), on a cluster (cluster_test.go), and of the load
// generators by themselves (rates_test.go). Each needs what "make build" leaves in bin or an installation, and a machine on which nothing else runs.
//
// A benchmark logs a line for each figure, tab-separated: name, value, unit, aim, "met" or "short", and a note. With -short it measures next to
// nothing, only to see whether everything works.
package bench
