// Package measured computes the values of a cell from the records of its trial: throughput, CPU time, observations
// and latency.
//
// The four kinds of latency are never merged or compared with each other. If a tool prints only quantiles, its
// samples lie between two histograms. These are merged separately, so a merged quantile or mean is an interval that
// holds the true value. Timed-out requests and arrivals that were never sent rank above all samples.
package measured
