// Package rounds reads the rounds of a suite: the history of values from their reports, and one ended round as tests
// and Markdown for a pipeline.
package rounds
