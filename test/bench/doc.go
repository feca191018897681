// Package bench benchmarks Loadstone as users run it: on this machine (local_test.go) and on a cluster (cluster_test.go). It needs the
// programs of "make build" or an installation, and an otherwise idle machine.
//
// Each figure is a tab-separated line: name, value, unit, aim, "met" or "short", and a note.
package bench
