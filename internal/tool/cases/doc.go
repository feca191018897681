// Package cases reads what programs print that measure themselves: Google Benchmark's JSON, the text of go test -bench, and lines of JSON
// from any other program.
//
// Whatever the format, a program has cases, a case has metrics, and a metric has one sample for each repetition that the program made.
// Times are in nanoseconds. What a program has computed from its repetitions, such as a mean, is not read: what is compared is computed
// from the samples.
//
// The package is strict with each case, since a number that was misread is worse than none: a value that is negative, infinite or no number,
// or a line that cannot be read, costs the case that it belongs to, with all its values. It is lenient with the output: the other cases keep
// theirs, and what belongs to no case, such as other text or a last line that was cut, is listed. Each sentence names the line and what to do.
//
// Read starts no program, opens no file and knows nothing of runs.
package cases
