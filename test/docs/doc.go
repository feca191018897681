// Package docs tests what readers are told: every command of README.md and of the pages is run, as far as it can be without a cluster
// that measures; every example of a BenchmarkRun is read as loadstone run reads it; and every reason of the code has a row that says
// what to do.
package docs
