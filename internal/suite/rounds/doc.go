// Package rounds reads the rounds of a suite: the history of values from the reports of their runs, and one ended round as a list
// of tests and as Markdown, for a pipeline.
package rounds
