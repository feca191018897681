// Program workloads prints the results of the reference workloads, from runs of config/workloads with "loadstone run":
//
//	make bench-workloads
//
// Each figure is a line on standard output (hack/figures): name, value, unit, aim, "met" or "short", and a note. table.tsv defines the comparisons. A
// figure is the geometric mean of the blocks' ratios, with the interval of the paired t test on their logs. Void cells and processes are left out.
//
// Records keep all data that figures need, one file per run. Pages (docs/explanation/workloads.md) are generated from them: tables, and the figures
// in sentences.
//
// "workloads cells PROGRAM CASE..." runs cells of a program and prints them as lines that Loadstone reads (docs/reference/cases.md).
package main
