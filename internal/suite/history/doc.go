// Package history lists the values of a suite's rounds and finds where they changed. It stores nothing: every value
// comes from a report. It is pure; callers read the reports.
//
// A value is a ratio to the run's baseline if there is one, since both were measured on the same machine within
// minutes. A run of one implementation has plain values, compared on the same machine only. If the basis of a value
// changes (baseline, load levels, for plain values the machine), the series breaks; change points are searched on
// either side.
package history
