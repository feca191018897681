// Package bench benchmarks Loadstone as users run it: on this machine (local_test.go) and on a cluster (cluster_test.go). rates_test.go benchmarks
// load generators. They need the programs of "make build" or an installation, and an otherwise idle machine.
//
// Each figure is a tab-separated line: name, value, unit, aim, "met" or "short", and a note. With -short a benchmark only checks that everything
// works.
package bench
