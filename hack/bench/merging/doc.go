// Package merging holds what is merged of many generators' histograms against the samples themselves, and measures what the analysis of a
// large run costs. It needs no cluster: its runs never happened.
package merging
