// Package docs tests what readers are told: every command of README.md and of the pages is run, on this machine or against a real API server whose
// operator is played, or a table says who runs it; every example of a BenchmarkRun is read as loadstone run reads it; and every reason of the code has a
// row that says what to do.
package docs
