// Package history puts the values of a suite's rounds one after the other, and finds where they have changed. It keeps nothing of its own: every
// value is one of a round's report, so that it cannot disagree with it.
//
// A value is a ratio to the run's baseline where the report has one, since the two were measured on the same machine within the same minutes. A
// run of one implementation has nothing else than its plain values, which are compared on the same machine only. Where what a value rests upon has
// changed - the baseline, the levels of the load, for plain values the machine - the series breaks, and change points are looked for on either side.
//
// It performs no side effects: who calls it reads the reports.
package history
