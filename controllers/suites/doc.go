// Package suites is the edge of BenchmarkSuites to the cluster, to registries and to the object store: it looks at what exists, asks package suite
// what is to be done, does it, and writes down the status. It decides nothing.
//
// A decision that creates or deletes is made again from what the API server itself has, since the cache may not know yet what the pass before has
// made.
package suites
