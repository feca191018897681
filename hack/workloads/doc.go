// Program workloads prints what the reference workloads reached, from runs of config/workloads that "loadstone run" has led:
//
//	make bench-workloads
//
// A line goes to standard output for each figure (hack/figures): name, value, unit, aim, "met" or "short", and a note. The comparisons are
// the table in table.tsv. A ratio is that of two values of one block; a figure is the geometric mean of the blocks' ratios, with the interval of the
// paired t on their logs. Loadstone decides what counts: a void cell or process counts in no figure.
//
// What figures are made of is kept in records, a file of lines for each run, and nothing else of a run is read. The pages (docs/explanation/workloads.md) are made of
// these: their tables, and each figure in their sentences.
//
// The program measures nothing. It also translates: "workloads cells PROGRAM CASE..." runs cells of a program as it prints them itself, and
// prints them as lines that Loadstone reads (docs/reference/cases.md).
package main
