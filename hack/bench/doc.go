// Program bench measures Loadstone itself: as it is installed on a cluster (package cluster), and its statistics without one (packages
// merging and verdicts). The table in measurements.go says what there is.
//
// A line a figure goes to standard output, tab-separated: name, value, unit, aim, "met" or "short", and a note. Progress, and
// where the time goes, go to standard error. The program compares no versions and keeps no history.
//
// Beside it are two programs of their own: record, which records the blocks of equal servers that verdicts draws from (package aa is their
// form), and workloads, which measures the reference workloads against their peers. Both start processes of this machine through package
// local.
package main
