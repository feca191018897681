// Package noise takes from the report of an A/A run, which measures one thing under two names, what it has seen: the ratio of the two, which is 1 but
// for noise, and its interval.
//
// Whether a run is one is the report's to say. A run that asks for equal servers, and whose report says nothing of noise, is left out with a reason.
//
// It performs no side effects: who calls it reads the reports.
package noise
