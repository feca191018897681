// Package runfile reads a BenchmarkRun or a BenchmarkSuite from a file, and refuses without a cluster what a cluster would refuse: it holds the
// file against the schema and the rules of the API as they are installed. It plans nothing.
package runfile
