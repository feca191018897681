// Package suites connects BenchmarkSuites to the cluster, registries and the object store. It observes, asks package suite for a decision, carries it
// out and writes the status. Decisions that create or delete are made again with data from the API server, because the cache may be stale.
package suites
