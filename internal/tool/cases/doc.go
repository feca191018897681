// Package cases parses the output of programs that measure themselves: Google Benchmark's JSON, go test -bench text, and JSON lines of any
// other program.
//
// In every format a program has cases, a case has metrics, and a metric has one sample per repetition. Times are in nanoseconds. Computed
// values such as means are ignored: comparisons use samples.
//
// The package is strict per case, since a misread number is worse than none: a negative or nonfinite value or an unreadable line discards all
// values of its case. Other cases stay, and text without a case, such as a truncated last line, is listed. Each sentence names the line and a
// remedy.
//
// Read is pure.
package cases
