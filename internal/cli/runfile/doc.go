// Package runfile reads, validates and writes files of BenchmarkRuns and BenchmarkSuites. It applies the schema and the rules of the
// API, as a cluster would, and names the line of each mistake.
package runfile
