// Package measured computes everything that is known about a cell from the records of its trial: throughput, CPU time,
// observations and latency.
//
// There are four kinds of latency. They are never merged or compared with each other. A tool that prints only quantiles is known by
// brackets: its samples lie between two histograms, which are merged separately, so that a merged quantile or mean is an interval that
// holds the true value. Requests that timed out, and arrivals that were never sent, rank above all samples.
package measured
