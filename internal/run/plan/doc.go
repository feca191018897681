// Package plan compiles a BenchmarkRun into trials, their order and their cells.
//
// Compile is pure: the same spec, name and UID give the same plan, byte for byte. The plan's hash is its identity.
// Every default is filled in here and stated in the plan's notes. Of the cluster, the package knows only the nodes
// given to Fits.
package plan
