// Package docs tests the documentation. Every command of README.md and the pages runs on this machine or against a real API server with a simulated
// operator. A table lists the commands that run elsewhere. Every example of a BenchmarkRun must be valid. Every reason in the code needs a row that
// says what to do.
package docs
