// Package cases reads what programs print that measure themselves: Google Benchmark's JSON, the text of go test -bench, and lines of JSON
// from any other program.
//
// Whatever the format, a program has cases, a case has metrics, and a metric has one sample for each repetition that the program made.
// Times are in nanoseconds. What a program has computed from its repetitions, such as a mean, is not read: what is compared is computed
// from the samples.
//
// The package is strict, since a number that was misread is worse than none. It refuses output that ends too early, that mixes a format
// with other text, or that holds a value that is negative, infinite or no number. Each error names the line or the member, and what to do.
// A case that failed is no error: it is read with its Failure, and the others keep their values.
//
// Read starts no program, opens no file and knows nothing of runs.
package cases
